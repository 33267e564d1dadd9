package main

// dataPrefix begins a line of a brief that others wrote.
const dataPrefix = "> "

// brief assembles what is known now of an item, or of all that is open where it is "". Nil: not built yet.
var brief func(g *game, item string, tokens int) (string, error)

// estimate is how many tokens a line of a log takes.
func estimate(line string) int { return (len([]rune(line)) + 4) / 4 }
