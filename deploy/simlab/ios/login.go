package ios

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"time"

	"gns3copilot/deploy/simlab/terminal"
)

const (
	loginTries = 3
	// wrongPassword is how long a device thinks about a wrong one.
	wrongPassword = 2 * time.Second
)

// logIn waits for Return, asks for a login if one is configured, and shows the banners.
func (s *shell) logIn(ctx context.Context) error {
	if err := s.t.AwaitReturn(ctx); err != nil {
		return err
	}
	if text := s.r.banners["motd"]; text != "" {
		s.t.Print("\n" + text + "\n")
	}
	ok, err := s.authenticate(ctx)
	if err != nil || !ok {
		return err
	}
	s.t.Print("\n\n")
	if text := s.r.banners["exec"]; text != "" {
		s.t.Print(text + "\n")
	}
	s.loggedOut = false
	return nil
}

// authenticate asks as "line con 0" says. A privilege of 15 begins in the privileged mode.
func (s *shell) authenticate(ctx context.Context) (bool, error) {
	local, _ := s.r.settings.find("line con 0", "login")
	_, asks := s.r.settings.find("line con 0", "login")
	password, _ := s.r.settings.find("line con 0", "password")
	byName := s.login || asks && local == "local"
	if !byName && (!asks || password == "") {
		return true, nil
	}
	if text := s.r.banners["login"]; text != "" {
		s.t.Print("\n" + text + "\n")
	}
	s.t.Print("\n\nUser Access Verification\n\n")
	for range loginTries {
		name := ""
		if byName {
			var err error
			if name, _, err = s.ask(ctx, "Username: "); err != nil {
				return false, err
			}
		}
		given, err := s.secret(ctx)
		if err != nil {
			return false, err
		}
		switch {
		case byName && s.allowed(name, given), !byName && matches(password, given):
			if options, _ := s.r.settings.find("users", "username "+name); byName && strings.Contains(options, "privilege 15") {
				s.mode = modeEnabled
			}
			return true, nil
		case byName:
			s.t.Print("% Login invalid\n\n")
		}
		if err := s.t.Hold(ctx, wrongPassword); err != nil {
			return false, err
		}
	}
	s.t.Print("% Bad passwords\n\n\n" + s.r.hostname + " con0 is now available\n\n\nPress RETURN to get started.\n\n\n")
	return false, nil
}

// secret reads a password.
func (s *shell) secret(ctx context.Context) (string, error) {
	text, _, err := s.t.ReadLine(ctx, terminal.Line{Prompt: "Password: ", Hidden: true})
	return text, err
}

// allowed checks a user's password: those that are configured, and the one that a boot state asks for.
func (s *shell) allowed(name, given string) bool {
	if s.login && name == terminal.BootUser && given == terminal.BootPassword {
		return true
	}
	options, ok := s.r.settings.find("users", "username "+name)
	if !ok || name == "" {
		return false
	}
	for _, kind := range []string{"secret ", "password "} {
		if _, stored, found := strings.Cut(options, kind); found {
			return matches(stored, given)
		}
	}
	return strings.Contains(options, "nopassword")
}

// enable asks for the secret when there is one, else for the password.
func enable(ctx context.Context, s *shell, _ args) error {
	stored, ok := s.r.settings.find("enable", "enable secret")
	if !ok {
		stored, ok = s.r.settings.find("enable", "enable password")
	}
	if !ok || s.mode != modeUser {
		s.mode = max(s.mode, modeEnabled)
		return nil
	}
	for range loginTries {
		given, err := s.secret(ctx)
		if err != nil {
			return err
		}
		if matches(stored, given) {
			s.mode = modeEnabled
			return nil
		}
		if err := s.t.Hold(ctx, wrongPassword); err != nil {
			return err
		}
	}
	s.print("%% Bad secrets\n\n")
	return nil
}

// matches compares a password with what is stored: "5 hash", "0 text" or the text alone.
func matches(stored, given string) bool {
	kind, rest, _ := strings.Cut(stored, " ")
	switch kind {
	case "5":
		parts := strings.Split(rest, "$")
		return len(parts) == 4 && hash(given, parts[2]) == rest
	case "0", "7":
		return rest == given
	}
	return stored == given
}

// hash looks like IOS's type 5, and isn't it: what is typed here is no secret, and can't be brought to a real device.
func hash(password, salt string) string {
	sum := sha256.Sum256([]byte(salt + password))
	return "$1$" + salt + "$" + base64.RawStdEncoding.EncodeToString(sum[:])[:22]
}

// hashed turns what follows "secret" into what is stored.
func hashed(text string) string {
	kind, rest, found := strings.Cut(text, " ")
	switch {
	case found && kind == "5":
		return text
	case found && kind == "0":
		text = rest
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	salt := make([]byte, 4)
	for i := range salt {
		salt[i] = letters[rand.IntN(len(letters))]
	}
	return "5 " + hash(text, string(salt))
}

func enableSecret(_ context.Context, s *shell, a args) error {
	s.r.settings.set("enable", "enable secret", "enable secret "+hashed(a["text"]))
	return nil
}

func enablePassword(_ context.Context, s *shell, a args) error {
	s.r.settings.set("enable", "enable password", "enable password "+strings.TrimPrefix(a["text"], "0 "))
	return nil
}

func noEnable(_ context.Context, s *shell, _ args) error {
	s.r.settings.drop("enable", strings.Join(s.said[:2], " "))
	return nil
}

// setUser is "username NAME …": a new password leaves the privilege, and the other way round.
func setUser(_ context.Context, s *shell, a args) error {
	key := "username " + a["name"]
	old, _ := s.r.settings.find("users", key)
	privilege, credential := "", ""
	for _, options := range []string{old, a["text"]} {
		words := strings.Fields(options)
		if len(words) > 1 && words[0] == "privilege" {
			privilege = " privilege " + words[1]
			words = words[2:]
		}
		switch {
		case len(words) > 1 && words[0] == "secret":
			credential = " secret " + hashed(strings.Join(words[1:], " "))
		case len(words) > 1 && words[0] == "password":
			credential = " password " + strings.Join(words[1:], " ")
		case len(words) == 1 && words[0] == "nopassword":
			credential = " nopassword"
		case len(words) > 0:
			s.print("%% Incomplete command.\n\n")
			return nil
		}
	}
	s.r.settings.set("users", key, key+privilege+credential)
	return nil
}

func noUser(_ context.Context, s *shell, a args) error {
	s.r.settings.drop("users", "username "+a["name"])
	return nil
}
