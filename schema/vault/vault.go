// Package vault holds what must not be read by others: it seals texts with AES-256-GCM, and keeps the GNS3 tokens that running
// turns act with in memory, sealed, until the turn or the token ends.
package vault

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gns3copilot/schema"

	"github.com/nats-io/nats.go/jetstream"
)

const bucket = "copilot-credentials"

// maxLife bounds how long a token is kept that doesn't say itself when it ends.
const maxLife = 24 * time.Hour

// Key is the installation's secret, 32 bytes.
type Key [32]byte

// ParseKey reads a key from 64 hex digits. It fails with CodeInvalid and never repeats the text.
func ParseKey(text string) (Key, error) {
	var k Key
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(k) {
		return k, schema.Errorf(schema.CodeInvalid, "The secret key must be 64 hex digits.").
			WithHint("Make one with: openssl rand -hex 32")
	}
	return Key(b), nil
}

// KeyFile reads the key from a file, which is made, readable by its owner alone, when it isn't there.
func KeyFile(path string) (Key, error) {
	if b, err := os.ReadFile(path); err == nil {
		return ParseKey(strings.TrimSpace(string(b)))
	} else if !errors.Is(err, os.ErrNotExist) {
		return Key{}, fmt.Errorf("read the secret key: %w", err)
	}
	var k Key
	if _, err := rand.Read(k[:]); err != nil {
		return k, fmt.Errorf("make a secret key: %w", err)
	}
	// Whole or not at all, and never over another process's key: a link fails when the name exists.
	temp, err := os.CreateTemp(filepath.Dir(path), ".key-*")
	if err != nil {
		return k, fmt.Errorf("make a secret key: %w", err)
	}
	defer os.Remove(temp.Name())
	if _, err = temp.WriteString(hex.EncodeToString(k[:])); err == nil {
		err = errors.Join(temp.Sync(), temp.Close())
	}
	if err != nil {
		return k, fmt.Errorf("write the secret key: %w", err)
	}
	if err := os.Link(temp.Name(), path); errors.Is(err, os.ErrExist) {
		return KeyFile(path)
	} else if err != nil {
		return k, fmt.Errorf("write the secret key: %w", err)
	}
	return k, nil
}

// Vault keeps tokens. It is safe for concurrent use.
type Vault struct {
	aead cipher.AEAD
	kv   jetstream.KeyValue
	now  func() time.Time
}

// Open makes sure that the bucket is there. It fails with CodeUnavailable.
func Open(ctx context.Context, js jetstream.JetStream, key Key) (*Vault, error) {
	aead, err := newAEAD(key, "credentials")
	if err != nil {
		return nil, err
	}
	kv, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: bucket, Storage: jetstream.MemoryStorage, TTL: maxLife, History: 1, MaxBytes: 64 << 20,
	})
	if err != nil {
		return nil, unavailable(err)
	}
	return &Vault{aead: aead, kv: kv, now: time.Now}, nil
}

func newAEAD(key Key, purpose string) (cipher.AEAD, error) {
	derived, err := hkdf.Key(sha256.New, key[:], nil, "gns3-copilot "+purpose, len(key))
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	return cipher.NewGCM(block)
}

type credential struct {
	Token   string    `json:"token"`
	Expires time.Time `json:"expires"`
}

// Put keeps the token that the turn of this user acts with. It fails with CodeUnavailable.
func (v *Vault) Put(ctx context.Context, turnID, userID, token string) error {
	name := slot(turnID, userID)
	plain, err := json.Marshal(credential{Token: token, Expires: expiry(token, v.now())})
	if err != nil {
		return fmt.Errorf("seal credential: %w", err)
	}
	nonce := make([]byte, v.aead.NonceSize(), v.aead.NonceSize()+len(plain)+v.aead.Overhead())
	if _, err := rand.Read(nonce); err != nil {
		return fmt.Errorf("seal credential: %w", err)
	}
	if _, err := v.kv.Put(ctx, name, v.aead.Seal(nonce, nonce, plain, []byte(name))); err != nil {
		return unavailable(err)
	}
	return nil
}

// Token gives the turn's live token. It fails with CodeCredentialMissing when there is none, and with CodeUnavailable.
func (v *Vault) Token(ctx context.Context, turnID, userID string) (string, error) {
	name := slot(turnID, userID)
	entry, err := v.kv.Get(ctx, name)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return "", missing(nil)
	}
	if err != nil {
		return "", unavailable(err)
	}
	sealed, size := entry.Value(), v.aead.NonceSize()
	if len(sealed) < size {
		return "", missing(errors.New("sealed credential is too short"))
	}
	plain, err := v.aead.Open(nil, sealed[:size], sealed[size:], []byte(name))
	if err != nil {
		return "", missing(fmt.Errorf("open credential: %w", err))
	}
	var c credential
	if err := json.Unmarshal(plain, &c); err != nil {
		return "", missing(errors.New("sealed credential can't be read"))
	}
	if !v.now().Before(c.Expires) {
		return "", missing(errors.New("token expired"))
	}
	return c.Token, nil
}

// Drop forgets the turn's token.
func (v *Vault) Drop(ctx context.Context, turnID, userID string) error {
	return unavailable(v.kv.Purge(ctx, slot(turnID, userID)))
}

// slot names the place of a turn's token. The user is part of it, so that nobody's token stands in for another's.
func slot(turnID, userID string) string {
	sum := sha256.Sum256([]byte(userID))
	return turnID + "." + hex.EncodeToString(sum[:12])
}

// expiry reads when a JSON web token ends. The signature is not ours to check: the GNS3 server does that at each use.
func expiry(token string, now time.Time) time.Time {
	latest := now.Add(maxLife)
	var claims struct {
		Exp int64 `json:"exp"`
	}
	_, rest, _ := strings.Cut(token, ".")
	body, _, _ := strings.Cut(rest, ".")
	payload, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil || json.Unmarshal(payload, &claims) != nil || claims.Exp == 0 {
		return latest
	}
	if t := time.Unix(claims.Exp, 0); t.Before(latest) {
		return t
	}
	return latest
}

func missing(cause error) error {
	return schema.Errorf(schema.CodeCredentialMissing, "The turn has no valid GNS3 login to act with.").
		WithHint("Open the session again while you are logged in; the turn then goes on.").WithCause(cause)
}

func unavailable(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return schema.Errorf(schema.CodeUnavailable, "The credential store can't be used at the moment.").
		WithHint("Try again; if it stays, look whether NATS is running.").WithCause(err)
}
