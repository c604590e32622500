package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/cache"
	"gns3copilot/schema/store"

	"github.com/google/uuid"
)

// identityLife is how long a checked token is believed, and so how long a logout may take to be seen here.
const identityLife = 30 * time.Second

// identities asks the GNS3 server whose a token is, and remembers the answer for a while. A new password ends the logins from before it, which
// GNS3 itself goes on to take.
type identities struct {
	gns3   GNS3
	logins *store.Store
	known  *cache.Cache[schema.User]
	log    *slog.Logger

	mu   sync.Mutex
	news uint64            // how many new passwords there were
	owed map[string]uint64 // of users whose logins could not be ended yet, which the last was
}

func newIdentities(g GNS3, logins *store.Store, log *slog.Logger) *identities {
	return &identities{gns3: g, logins: logins, known: cache.New[schema.User](identityLife, time.Now), log: log, owed: map[string]uint64{}}
}

// user fails with CodeUnauthorized, CodeGNS3Unavailable and CodeUnavailable.
func (i *identities) user(ctx context.Context, token string) (schema.User, error) {
	return i.known.Get(ctx, cache.KeyOf(token), i.ask(token))
}

// again asks whatever is remembered: a login may have ended meanwhile. It fails as user does.
func (i *identities) again(ctx context.Context, token string) error {
	_, err := i.known.Ask(ctx, cache.KeyOf(token), i.ask(token))
	return err
}

func (i *identities) ask(token string) func(context.Context) (schema.User, error) {
	return func(ctx context.Context) (schema.User, error) {
		user, err := i.gns3.Me(ctx, token)
		if err == nil {
			err = i.counts(ctx, token, user.ID)
		} else if _, known := i.last(token); known {
			// What was ended here has ended while GNS3 doesn't answer, too. Tokens that nobody knows mustn't cost the database anything.
			if _, ended := i.logins.Login(ctx, token); schema.CodeOf(ended) == schema.CodeUnauthorized {
				err = ended
			}
		}
		if schema.CodeOf(err) == schema.CodeUnauthorized {
			i.known.Forget(cache.KeyOf(token)) // nor is it good for last
		}
		return user, err
	}
}

// counts fails with CodeUnauthorized when the login was ended here, though GNS3 takes its token, and with CodeUnavailable when that isn't known.
func (i *identities) counts(ctx context.Context, token, userID string) error {
	if err := i.endOwed(ctx, userID); err != nil {
		return err
	}
	keptFor, err := i.logins.Login(ctx, token)
	if err != nil && schema.CodeOf(err) != schema.CodeNotFound {
		return err
	}
	if keptFor == userID {
		return nil
	}
	if err := i.logins.KeepLogin(ctx, token, userID); err != nil { // the next to ask tries again
		i.log.WarnContext(ctx, "login not kept, so that a new password doesn't end it", "user", userID, "error", err)
	}
	return nil
}

// forget drops what is known of a user, however many tokens it was known by.
func (i *identities) forget(userID string) {
	i.known.ForgetAll(func(u schema.User) bool { return u.ID == userID })
}

// staleLife is how long a token that was checked once is good for stopping one's own turn while the GNS3 server can't be asked.
const staleLife = 24 * time.Hour

// last is whose the token was when it was checked last.
func (i *identities) last(token string) (schema.User, bool) {
	return i.known.Last(cache.KeyOf(token), staleLife)
}

// ended is told of requests that GNS3 has granted. What may have ended somebody's logins has that user forgotten: a logout, a user who was
// renamed, deactivated or deleted. A new password ends them here; it fails when that can't be stored yet, and then the user's next request tries again.
func (i *identities) ended(ctx context.Context, r *http.Request, password *newPassword) error {
	name, ok := accountOf(r)
	if !ok || r.Method == http.MethodGet || name == "authenticate" || name == "login" {
		return nil
	}
	userID, err := i.accountID(ctx, r, name)
	if err != nil {
		// Whose it was isn't known, nor therefore which others are the same user's.
		i.known.ForgetAll(func(schema.User) bool { return true })
		if password.given() {
			return err
		}
		return nil
	}
	if password.given() {
		i.owe(userID)
		err = i.endOwed(ctx, userID)
	}
	i.forget(userID)
	return err
}

func (i *identities) owe(userID string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.news++
	i.owed[userID] = i.news
}

// endOwed ends a user's logins if that is still to be done. None that begins afterwards is seen before it is.
func (i *identities) endOwed(ctx context.Context, userID string) error {
	i.mu.Lock()
	news, owed := i.owed[userID]
	i.mu.Unlock()
	if !owed {
		return nil
	}
	if err := i.logins.EndLogins(ctx, userID); err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.owed[userID] == news {
		delete(i.owed, userID)
	}
	return nil
}

// begun is told of GNS3's answer to a login, which it leaves to be read. The login is known from then on, so that a new password ends it also
// when it hasn't been used here.
func (i *identities) begun(ctx context.Context, r *http.Request, answer *http.Response) error {
	if name, ok := accountOf(r); !ok || name != "authenticate" && name != "login" {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAccount))
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), answer.Body), answer.Body}
	var login struct {
		Token string `json:"access_token"`
	}
	if err != nil || json.Unmarshal(text, &login) != nil || login.Token == "" {
		return nil // whoever reads on gets the error
	}
	if err := i.logins.BeginLogin(ctx, login.Token); err != nil {
		return err
	}
	if _, err := i.user(ctx, login.Token); schema.CodeOf(err) != schema.CodeUnauthorized { // who isn't active gets a token that is good for nothing
		return err
	}
	return nil
}

// accountID is whose account a request is about, empty if it is about none.
func (i *identities) accountID(ctx context.Context, r *http.Request, name string) (string, error) {
	if name != "logout" && name != "me" {
		id, err := uuid.Parse(name) // GNS3 reads every spelling, too
		if err != nil {
			return "", nil
		}
		return id.String(), nil
	}
	token := gns3Token(r)
	if user, ok := i.last(token); ok {
		return user.ID, nil
	}
	user, err := i.gns3.Me(ctx, token)
	return user.ID, err
}
