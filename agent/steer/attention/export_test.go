package attention

// Message is message.
var Message = message
