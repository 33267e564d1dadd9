package main

import "github.com/heedlog/heed/internal/proxy"

// tools returns heed's diagnostics.
func (h *host) tools() proxy.Tools { return nil }
