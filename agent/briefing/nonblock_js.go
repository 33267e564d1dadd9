package briefing

const nonblock = 0 // browsers have no files
