package main

import (
	"context"

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
		err = schema.Errorf(schema.CodeUnauthorized, "The GNS3 server doesn't accept the password of %q.", f.User).
			WithHint("Give --user and --password (COPILOT_PASSWORD), or --token.")
	}
	return api, err
}
