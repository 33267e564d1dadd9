package cli

import "fmt"

// Bytes returns an amount of bytes for people: "12 B", "1.5 MiB".
func Bytes(n float64) string {
	if n < 1024 {
		return fmt.Sprintf("%.0f B", n)
	}
	unit := ""
	for _, u := range []string{"KiB", "MiB", "GiB"} {
		if n < 1024 {
			break
		}
		n, unit = n/1024, u
	}
	return fmt.Sprintf("%.1f %s", n, unit)
}
