package gns3

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/cache"
)

// membershipLife is how long it is believed which groups a user is in.
const membershipLife = 30 * time.Second

// Account is the GNS3 user that the server itself asks with for what users may not ask themselves. Without a name there is none.
type Account struct{ Username, Password string }

// Directory knows users, groups, and who is in which. GNS3 tells memberships to those with the privilege Group.Audit alone, so it is asked
// with an account of the server's own. A Directory may be used by many goroutines.
type Directory struct {
	client  *Client
	account Account
	log     *slog.Logger
	known   *cache.Cache[[]Group] // by who asks and about whom: not everybody is told

	logins sync.Mutex // held while the account logs in
	token  string     // of the account
}

// NewDirectory makes a directory on the client's server.
func NewDirectory(c *Client, a Account, log *slog.Logger) *Directory {
	return &Directory{client: c, account: a, log: log, known: cache.New[[]Group](membershipLife, time.Now)}
}

// User reads a user as the token's owner may; see Client.User.
func (d *Directory) User(ctx context.Context, token, id string) (User, error) {
	return d.client.User(ctx, token, id)
}

// Group reads a group as the token's owner may; see Client.Group.
func (d *Directory) Group(ctx context.Context, token, id string) (Group, error) {
	return d.client.Group(ctx, token, id)
}

// Groups lists the groups that a user is in: as the account is told, else as the token's owner is. Where GNS3 tells neither, the user counts
// as in none. It fails with CodeGNS3Unavailable, and with CodeInvalid for an id that is no UUID.
func (d *Directory) Groups(ctx context.Context, token, userID string) ([]Group, error) {
	return d.known.Get(ctx, cache.KeyOf(token, userID), func(ctx context.Context) ([]Group, error) {
		return d.ask(ctx, token, userID)
	})
}

func (d *Directory) ask(ctx context.Context, token, userID string) ([]Group, error) {
	if d.account.Username != "" {
		groups, err := d.askAsAccount(ctx, userID)
		if !refused(err) {
			return groups, err
		}
		d.log.ErrorContext(ctx, "GNS3 doesn't tell the server's own account who is in which group", "account", d.account.Username, "error", err)
	}
	groups, err := d.client.Groups(ctx, token, userID)
	if refused(err) {
		return nil, nil
	}
	return groups, err
}

// askAsAccount uses the account's token for as long as GNS3 takes it.
func (d *Directory) askAsAccount(ctx context.Context, userID string) (groups []Group, err error) {
	err = d.asAccount(ctx, func(token string) (err error) {
		groups, err = d.client.Groups(ctx, token, userID)
		return err
	})
	return groups, err
}

// Listen is Client.Listen with the account's login.
func (d *Directory) Listen(ctx context.Context, projectID string) error {
	return d.asAccount(ctx, func(token string) error { return d.client.Listen(ctx, token, projectID) })
}

// ListenDeleted is Client.ListenDeleted with the account's login.
func (d *Directory) ListenDeleted(ctx context.Context, deleted func(projectID string)) error {
	return d.asAccount(ctx, func(token string) error { return d.client.ListenDeleted(ctx, token, deleted) })
}

// asAccount calls with the account's token, and again with a new one when GNS3 doesn't take it any more.
func (d *Directory) asAccount(ctx context.Context, call func(token string) error) error {
	token, err := d.login(ctx, "")
	if err != nil {
		return err
	}
	if err = call(token); schema.CodeOf(err) != schema.CodeUnauthorized {
		return err
	}
	if token, err = d.login(ctx, token); err != nil {
		return err
	}
	return call(token)
}

// login gives the account's token: the known one unless that is the stale one.
func (d *Directory) login(ctx context.Context, stale string) (string, error) {
	d.logins.Lock()
	defer d.logins.Unlock()
	if d.token != "" && d.token != stale {
		return d.token, nil
	}
	token, err := d.client.Authenticate(ctx, d.account.Username, d.account.Password)
	if schema.CodeOf(err) == schema.CodeUnauthorized {
		d.log.ErrorContext(ctx, "GNS3 doesn't take the server's own account: look at --gns3-user and --gns3-password", "account", d.account.Username, "error", err)
	}
	d.token = token
	return token, err
}

// refused tells whether GNS3 has understood the question and doesn't answer it to the one who asks.
func refused(err error) bool {
	code := schema.CodeOf(err)
	return code == schema.CodeUnauthorized || code == schema.CodeForbidden
}
