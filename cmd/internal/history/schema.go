package history

import _ "embed"

// application is "hist" in ASCII.
const application = 0x68697374

var (
	//go:embed schema/1.sql
	version1 string
	//go:embed schema/2.sql
	version2 string

	// migrations lead from each version to the next; a landed migration never changes. Times are in milliseconds since
	// 1970. The views are documented.
	migrations = []string{version1, version2}
)
