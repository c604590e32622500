package apiserver

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"sync"
	"time"

	"gns3copilot/schema"

	"golang.org/x/sync/singleflight"
)

// identityLife is how long a checked token is believed, and so how long a logout may take to be seen here.
const identityLife = 30 * time.Second

// identitiesKept bounds the cache; the oldest half goes when it is full.
const identitiesKept = 10_000

// caller is who makes a request.
type caller struct {
	schema.User
	token string
}

// identities asks the GNS3 server whose a token is, and remembers the answer for a while under the token's hash.
type identities struct {
	gns3  GNS3
	now   func() time.Time
	calls singleflight.Group
	mu    sync.Mutex
	known map[[32]byte]identity
}

type identity struct {
	user  schema.User
	until time.Time
}

func newIdentities(g GNS3) *identities {
	return &identities{gns3: g, now: time.Now, known: map[[32]byte]identity{}}
}

// user fails with CodeUnauthorized and CodeGNS3Unavailable.
func (i *identities) user(ctx context.Context, token string) (schema.User, error) {
	key := sha256.Sum256([]byte(token))
	i.mu.Lock()
	id, ok := i.known[key]
	i.mu.Unlock()
	if ok && i.now().Before(id.until) {
		return id.user, nil
	}
	found, err, _ := i.calls.Do(string(key[:]), func() (any, error) {
		// The answer is for everybody who waits for it, so one of them leaving must not end the question.
		return i.gns3.Me(context.WithoutCancel(ctx), token)
	})
	if err != nil {
		return schema.User{}, err
	}
	user := found.(schema.User)
	i.remember(key, user)
	return user, nil
}

// staleLife is how long a token that was checked once is good for stopping one's own turn while the GNS3 server can't be asked.
const staleLife = 24 * time.Hour

// last is whose the token was when it was checked last.
func (i *identities) last(token string) (schema.User, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	id, ok := i.known[sha256.Sum256([]byte(token))]
	return id.user, ok && i.now().Before(id.until.Add(staleLife))
}

func (i *identities) remember(key [32]byte, user schema.User) {
	now := i.now()
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.known) >= identitiesKept {
		for k, id := range i.known {
			if len(i.known) > identitiesKept/2 || now.After(id.until) {
				delete(i.known, k)
			}
		}
	}
	i.known[key] = identity{user: user, until: now.Add(identityLife)}
}

// tokenOf finds the bearer token: in the header, or in ?token= as GNS3 accepts it too. It fails with CodeUnauthorized.
func tokenOf(r *http.Request) (string, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "bearer") && token != "" {
		return strings.TrimSpace(token), nil
	}
	if token := r.URL.Query().Get("token"); scheme == "" && token != "" {
		return token, nil
	}
	return "", schema.Errorf(schema.CodeUnauthorized, "Not authenticated").
		WithHint("Log in at POST /v3/access/users/authenticate and send the token as Authorization: Bearer.")
}

func (s *Server) caller(ctx context.Context, r *http.Request) (caller, error) {
	token, err := tokenOf(r)
	if err != nil {
		return caller{}, err
	}
	user, err := s.identities.user(ctx, token)
	return caller{User: user, token: token}, err
}

// withoutGNS3 marks an operation that does with a caller who was known when the GNS3 server could last be asked.
const withoutGNS3 = "without GNS3"

// lastCaller is as caller while the GNS3 server is away.
func (s *Server) lastCaller(r *http.Request) (caller, bool) {
	token, err := tokenOf(r)
	if err != nil {
		return caller{}, false
	}
	user, ok := s.identities.last(token)
	return caller{User: user, token: token}, ok
}

// project checks that the caller may see the project. Unless verb is empty the project must be opened, too. One that the caller may not see
// is answered as one that doesn't exist, so that nobody learns which ids there are. It fails with CodeInvalid, CodeNotFound,
// CodeProjectClosed and CodeGNS3Unavailable.
func (s *Server) project(ctx context.Context, who caller, id, verb string) error {
	if _, err := uuidParam("project_id", id); err != nil {
		return err
	}
	project, err := s.gns3.Project(ctx, who.token, id)
	switch code := schema.CodeOf(err); {
	case code == schema.CodeForbidden || code == schema.CodeNotFound:
		s.log.DebugContext(ctx, "project not shown", "project", id, "user", who.Username, "code", code, "error", err)
		return schema.Errorf(schema.CodeNotFound, "Project ID %s doesn't exist", id).WithCause(err)
	case err != nil:
		return err
	}
	if verb != "" && !project.Opened() {
		return schema.Errorf(schema.CodeProjectClosed, "Project must be opened to %s. Current status: %s", verb, project.Status).
			WithHint("Open the project in GNS3 first.")
	}
	return nil
}
