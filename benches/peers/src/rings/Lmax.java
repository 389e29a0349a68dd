import com.lmax.disruptor.EventHandler;
import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.YieldingWaitStrategy;
import com.lmax.disruptor.dsl.Disruptor;
import com.lmax.disruptor.dsl.ProducerType;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * Rounds of the LMAX disruptor: N threads publish, one event processor checks.
 *
 * Arguments: producers, slots. For each line with a number of values a producer it makes a ring and
 * its threads, says "ready", and on the next line lets them go and says: wall time in ns, values,
 * values out of order, their sum. Nothing runs between rounds. Ends with standard input.
 */
public final class Lmax {
    private static final long LIMIT_S = 30;

    private static final class Slot {
        long producer;
        long number;
    }

    private static final class Check implements EventHandler<Slot> {
        private final long[] next;
        private final long all;
        private final CountDownLatch done = new CountDownLatch(1);
        private long count;
        private long misplaced;
        private long sum;
        private long endNs;

        Check(int producers, long all) {
            this.next = new long[producers];
            this.all = all;
        }

        @Override
        public void onEvent(Slot slot, long sequence, boolean endOfBatch) {
            int producer = (int) slot.producer;
            if (next[producer] != slot.number) {
                misplaced++;
            }
            next[producer] = slot.number + 1;
            sum += slot.number;
            if (++count == all) {
                endNs = System.nanoTime();
                done.countDown();
            }
        }
    }

    private Lmax() {}

    public static void main(String[] arguments) throws Exception {
        int producers = Integer.parseInt(arguments[0]);
        int slots = Integer.parseInt(arguments[1]);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            round(producers, slots, Long.parseLong(line), lines);
        }
    }

    private static void round(int producers, int slots, long each, BufferedReader lines)
            throws Exception {
        ThreadFactory daemons = task -> daemon(task);
        ProducerType type = producers == 1 ? ProducerType.SINGLE : ProducerType.MULTI;
        Disruptor<Slot> disruptor =
                new Disruptor<>(Slot::new, slots, daemons, type, new YieldingWaitStrategy());
        Check check = new Check(producers, producers * each);
        disruptor.handleEventsWith(check);
        RingBuffer<Slot> ring = disruptor.start();
        CountDownLatch begin = new CountDownLatch(1);
        for (int producer = 0; producer < producers; producer++) {
            int own = producer;
            daemon(() -> publish(ring, begin, own, each)).start();
        }
        System.out.println("ready");
        lines.readLine();
        long beginNs = System.nanoTime();
        begin.countDown();
        if (!check.done.await(LIMIT_S, TimeUnit.SECONDS)) {
            System.out.println("stalled");
            System.exit(1);
        }
        disruptor.halt();
        long wallNs = check.endNs - beginNs;
        System.out.println(wallNs + " " + check.count + " " + check.misplaced + " " + check.sum);
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    }

    private static void publish(RingBuffer<Slot> ring, CountDownLatch begin, int own, long each) {
        try {
            begin.await();
        } catch (InterruptedException interrupted) {
            return; // nobody interrupts; the round then stalls and says so
        }
        for (long number = 0; number < each; number++) {
            long sequence = ring.next();
            Slot slot = ring.get(sequence);
            slot.producer = own;
            slot.number = number;
            ring.publish(sequence);
        }
    }
}
