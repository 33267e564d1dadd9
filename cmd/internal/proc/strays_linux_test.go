package proc

const hasStrays = true
