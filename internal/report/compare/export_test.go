package compare

// Limit sets the bounds of what is kept.
func (c *Collector) Limit(texts, textBytes int) { c.maxTexts, c.maxTextBytes = texts, textBytes }
