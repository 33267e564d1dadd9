package capture

// memoryStart opens the allocator statistics that Unity 2022 prints when it
// exits.
const memoryStart = "Memory Statistics:"

// isMemoryLine reports whether b belongs to those statistics: the name of an
// allocator at the margin, or figures indented under it.
func isMemoryLine(b []byte) bool {
	return b[0] == ' ' || b[0] == '\t' || hasPrefix(b, "[ALLOC_")
}
