package schema

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// TokenExpiry reads when a JSON web token ends, if it says so. The signature is not ours to check: the GNS3 server does that at each use.
func TokenExpiry(token string) (expires time.Time, told bool) {
	var claims struct {
		Exp int64 `json:"exp"`
	}
	_, rest, _ := strings.Cut(token, ".")
	body, _, _ := strings.Cut(rest, ".")
	payload, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil || json.Unmarshal(payload, &claims) != nil || claims.Exp == 0 {
		return time.Time{}, false
	}
	return time.Unix(claims.Exp, 0), true
}
