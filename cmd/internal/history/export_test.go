package history

import "database/sql"

// DB is for tests that look into the file, or limit it.
func (h *History) DB() *sql.DB { return h.db.DB }

func (h *History) Path() string { return h.config.Path }
