package report

import "github.com/heedlog/heed/internal/text/width"

// cells measures and cuts text in columns of a terminal.
var cells width.Measure
