package main

import (
	"context"
	"strings"

	"gns3copilot/apiserver/client"
	"gns3copilot/schema"
)

// serverFlags say which server a command talks to, and as whom.
type serverFlags struct {
	Server   string `help:"Address of the server." default:"http://127.0.0.1:8080"`
	User     string `help:"GNS3 user." default:"admin"`
	Password string `help:"The user's password; better set as COPILOT_PASSWORD, which process lists don't show." default:"admin"`
	Token    string `help:"GNS3 access token, in place of user and password."`
}

func (f serverFlags) faults() []string { return urlFaults("--server", f.Server, "http", "https") }

func (f serverFlags) login(ctx context.Context) (*client.Client, error) {
	api := client.New(f.Server, nil)
	if f.Token != "" {
		api.SetToken(f.Token)
		return api, nil
	}
	err := api.Login(ctx, f.User, f.Password)
	if schema.CodeOf(err) == schema.CodeUnauthorized {
		err = schema.Errorf(schema.CodeUnauthorized, "The GNS3 server doesn't accept the password of %q.", f.User)
	}
	return api, err
}

// withLogin adds to the server's word that somebody isn't logged in, or no longer, how to be.
func withLogin(err error) error {
	if schema.CodeOf(err) != schema.CodeUnauthorized {
		return err
	}
	e := *schema.AsError(err)
	return e.WithHint("%s", strings.TrimSpace(e.Hint+" Give --user and --password (COPILOT_PASSWORD), or --token."))
}
