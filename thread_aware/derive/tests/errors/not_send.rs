use std::rc::Rc;

use thread_aware::ThreadAware;

#[derive(ThreadAware)]
struct Local {
    #[thread_aware(skip)]
    shared: Rc<u8>,
}

fn main() {}
