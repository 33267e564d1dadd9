package sim

// Shrink returns a short script that fails, made of one that does: by leaving
// out steps, half of them at first and single ones at last, and by making storms
// smaller. It tries until nothing more can go, or for so many plays.
func Shrink(s *Script, plays int, fails func(*Script) bool) *Script {
	best := *s
	try := func(c *Script) bool {
		if plays == 0 {
			return false
		}
		plays--
		if !fails(c) {
			return false
		}
		best = *c
		return true
	}
	for size := (len(best.Steps) + 1) / 2; size > 0; {
		again := false
		for at := 0; at < len(best.Steps); {
			end := min(at+size, len(best.Steps))
			c := Script{Setup: best.Setup, Steps: append(append([]Step{}, best.Steps[:at]...), best.Steps[end:]...)}
			if try(&c) {
				again = true
			} else {
				at = end
			}
		}
		if size > 1 {
			size /= 2
		} else if !again {
			break
		}
	}
	for i := range best.Steps {
		for best.Steps[i].N > 1 {
			c := Script{Setup: best.Setup, Steps: append([]Step{}, best.Steps...)}
			c.Steps[i].N /= 2
			if !try(&c) {
				break
			}
		}
	}
	for _, n := range best.Setup.numbers() {
		c := best
		for _, other := range c.Setup.numbers() {
			if other.name == n.name {
				*other.v = 0
			}
		}
		if *n.v != 0 {
			try(&c)
		}
	}
	return &best
}
