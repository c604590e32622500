package main

import (
	"fmt"
	"net/url"
	"strings"

	"gns3copilot/apiserver"
)

// webFlags bound what comes over HTTP, and from where. The defaults are the command's.
type webFlags struct {
	UserMinuteRequests int    `help:"Most requests of a user to the copilot's API in a minute, on average; 0 for no limit." default:"${user_requests}"`
	UserMinuteTurns    int    `help:"Most messages of a user in a minute, on average; 0 for no limit." default:"${user_turns}"`
	CORSOrigins        string `name:"cors-origins" help:"Origins of web pages elsewhere that may use the copilot's API, with commas between, such as https://lab.example; * for any." placeholder:"LIST"`
}

// mostPerMinute is the highest bound that there may be on a minute.
const mostPerMinute = 1_000_000

func (f webFlags) faults() []string {
	var bad []string
	for _, limit := range []struct {
		flag  string
		value int
	}{{"--user-minute-requests", f.UserMinuteRequests}, {"--user-minute-turns", f.UserMinuteTurns}} {
		if limit.value < 0 || limit.value > mostPerMinute {
			bad = append(bad, fmt.Sprintf("%s: must be from 0, for no limit, to %d", limit.flag, mostPerMinute))
		}
	}
	for _, origin := range f.origins() {
		u, err := url.Parse(origin)
		if origin != "*" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || origin != u.Scheme+"://"+u.Host) {
			bad = append(bad, fmt.Sprintf("--cors-origins: %q is no origin, such as https://lab.example or http://127.0.0.1:3000", origin))
		}
	}
	return bad
}

// origins lists them as browsers write them.
func (f webFlags) origins() []string {
	return strings.FieldsFunc(strings.ToLower(f.CORSOrigins), func(r rune) bool { return r == ',' || r == ' ' })
}

func (f webFlags) bound(l *apiserver.Limits) {
	l.UserMinuteRequests, l.UserMinuteTurns, l.Origins = f.UserMinuteRequests, f.UserMinuteTurns, f.origins()
}
