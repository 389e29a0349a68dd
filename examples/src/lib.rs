//! One binary a question, and the market feed service.
