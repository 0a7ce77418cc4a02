// A thread that is gone before it has said anything.
