package schema

import "regexp"

var sessionID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// ValidSessionID reports whether a client's name for a session can go into subjects and workflow ids.
func ValidSessionID(s string) bool { return sessionID.MatchString(s) }
