package classify

import "github.com/heedlog/heed/event"

// Decide is Classify with a copy of the result.
func (c *Classifier) Decide(e *event.Entry) Result { return *c.Classify(e) }

// Validate returns what [New] says of c.
func (c Config) Validate() error {
	_, err := c.withDefaults()
	return err
}
