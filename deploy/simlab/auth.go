package simlab

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// DemoTokenSecret signs tokens unless Options.TokenSecret says otherwise. It is public and the same at every start, so that
// a client's token outlives the lab that gave it.
const DemoTokenSecret = "gns3-copilot-demo-lab-public-signing-key"

// ErrUnknownUser says that the lab has no account of that name.
var ErrUnknownUser = errors.New("no such user in the lab")

// tokenLife is how long a token is valid, as in GNS3.
const tokenLife = 24 * time.Hour

// timeLayout is how GNS3 writes times: UTC, and without saying so.
const timeLayout = "2006-01-02T15:04:05"

// user is an account of the lab.
type user struct {
	id, name, fullName string
	superadmin         bool

	mu        sync.Mutex
	password  string
	role      string
	lastLogin *time.Time
	version   int // of the tokens that are good
}

// demoUsers are all accounts there are.
func demoUsers(o Options) []*user {
	all := []*user{
		{name: adminName, fullName: "Super Administrator", superadmin: true},
		{name: studentName, fullName: "Student"},
	}
	if o.Class {
		all = append(all, &user{name: fellowName, fullName: "Fellow Student"})
	}
	for _, u := range all {
		u.id, u.password = stableID("user", u.name), cmp.Or(o.Passwords[u.name], u.name)
		u.role = cmp.Or(o.Roles[u.name], RoleUser)
	}
	return all
}

// userView is an account in a reply.
type userView struct {
	Username     string  `json:"username"`
	IsActive     bool    `json:"is_active"`
	Email        *string `json:"email"`
	FullName     string  `json:"full_name"`
	CreatedAt    string  `json:"created_at"`
	UpdatedAt    string  `json:"updated_at"`
	UserID       string  `json:"user_id"`
	LastLogin    *string `json:"last_login"`
	IsSuperadmin bool    `json:"is_superadmin"`
}

func (u *user) view() userView {
	u.mu.Lock()
	defer u.mu.Unlock()
	created := startedAt().Format(timeLayout)
	v := userView{
		Username: u.name, IsActive: true, FullName: u.fullName, CreatedAt: created, UpdatedAt: created,
		UserID: u.id, IsSuperadmin: u.superadmin,
	}
	if u.lastLogin != nil {
		text := u.lastLogin.Format(timeLayout)
		v.LastLogin = &text
	}
	return v
}

// claims are what a token says.
type claims struct {
	Subject string `json:"sub"`
	Expires int64  `json:"exp"`
	Version int    `json:"ver"`
}

// Token gives an access token of a user that ends after life, in whole seconds; it has ended when life is negative. It fails with
// ErrUnknownUser.
func (l *Lab) Token(name string, life time.Duration) (string, error) {
	u := l.user(name)
	if u == nil {
		return "", fmt.Errorf("make a token of %s: %w", name, ErrUnknownUser)
	}
	body, err := json.Marshal(claims{Subject: name, Expires: time.Now().Add(life).Unix(), Version: u.tokenVersion()})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"typ":"JWT","alg":"HS256"}`)) + "." + encode(body)
	return signed + "." + encode(l.sign(signed)), nil
}

// RevokeTokens ends all tokens that a user has, as a logout does. It fails with ErrUnknownUser.
func (l *Lab) RevokeTokens(name string) error {
	u := l.user(name)
	if u == nil {
		return fmt.Errorf("revoke tokens of %s: %w", name, ErrUnknownUser)
	}
	u.revokeTokens()
	return nil
}

func (u *user) tokenVersion() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.version
}

func (l *Lab) sign(text string) []byte {
	mac := hmac.New(sha256.New, []byte(l.opt.TokenSecret))
	// A hash's Write never fails.
	_, _ = mac.Write([]byte(text))
	return mac.Sum(nil)
}

// userOf gives the owner of a valid token. Any doubt is answered with nil.
func (l *Lab) userOf(token string, now time.Time) (*user, *claims) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, nil
	}
	var header struct {
		Algorithm string `json:"alg"`
	}
	var c claims
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !hmac.Equal(signature, l.sign(parts[0]+"."+parts[1])) ||
		!decodePart(parts[0], &header) || header.Algorithm != "HS256" ||
		!decodePart(parts[1], &c) || now.Unix() >= c.Expires {
		return nil, nil
	}
	return l.user(c.Subject), &c
}

func decodePart(part string, into any) bool {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(raw, into) == nil
}

func (l *Lab) user(name string) *user {
	for _, u := range l.users {
		if u.name == name {
			return u
		}
	}
	return nil
}

// takesPart reports whether a project is the user's own, or shared with the user.
func (u *user) takesPart(p *project) bool {
	return p.owner == u.name || slices.Contains(p.members, u.name)
}
