"""Holds many connections to a TCP echo server at once, and checks every byte that comes back."""

import argparse
import asyncio
import random
import resource
import socket

ROUNDS = 20
BYTES_MAX = 20_000
SECONDS_MAX = 120


async def talk(port, seed, all_here):
    """One connection: waits until all are there, then sends messages of changing sizes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    await all_here.wait()
    chance, count = random.Random(seed), 0
    for _ in range(ROUNDS):
        # Mostly short ones, as requests are.
        message = chance.randbytes(int(BYTES_MAX ** chance.random()))
        writer.write(message)
        echoed = await reader.readexactly(len(message))
        if echoed != message:
            raise ValueError(f"connection {seed}: {len(message)} bytes came back changed")
        count += len(message)
    writer.write_eof()
    rest = await reader.read()
    if rest:
        raise ValueError(f"connection {seed}: {len(rest)} bytes more than were sent")
    writer.close()
    await writer.wait_closed()
    return count


async def run(port, connections):
    all_here = asyncio.Barrier(connections)
    clients = (talk(port, seed, all_here) for seed in range(connections))
    counts = await asyncio.wait_for(asyncio.gather(*clients), SECONDS_MAX)
    print(f"{len(counts)} connections at once, {sum(counts)} bytes each way, none lost")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("port", type=int)
    options.add_argument("--connections", type=int, default=1000)
    wanted = options.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    asyncio.run(run(wanted.port, wanted.connections))


main()
