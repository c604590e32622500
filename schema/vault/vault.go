// Package vault holds what must not be read by others: it seals texts with AES-256-GCM, and keeps the GNS3 tokens that running
// turns act with in memory, sealed, until the turn or the token ends. Keys of models are sealed here and kept in the database.
package vault

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"

	"github.com/nats-io/nats.go"
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
	// models seals the keys of model configurations.
	models cipher.AEAD
	js     jetstream.JetStream
	kv     jetstream.KeyValue
	now    func() time.Time
}

// Open makes sure that the bucket is there and that its users share the key. It fails with CodeUnavailable, and with CodeInvalid when
// another process of the installation has another key.
func Open(ctx context.Context, js jetstream.JetStream, key Key) (*Vault, error) {
	aead, err := newAEAD(key, "credentials")
	if err != nil {
		return nil, err
	}
	models, err := newAEAD(key, "model keys")
	if err != nil {
		return nil, err
	}
	v := &Vault{aead: aead, models: models, js: js, now: time.Now}
	if err := v.makeBucket(ctx); err != nil {
		return nil, err
	}
	if v.kv, err = js.KeyValue(ctx, bucket); err != nil {
		return nil, unavailable(err)
	}
	return v, v.Check(ctx)
}

// makeBucket is done again whenever the bucket is missing: it is in memory, so a NATS server that was restarted has lost it.
func (v *Vault) makeBucket(ctx context.Context) error {
	_, err := v.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: bucket, Storage: jetstream.MemoryStorage, TTL: maxLife, History: 1, MaxBytes: 64 << 20,
	})
	return unavailable(err)
}

// keyCheck is the name under which the first process leaves a seal for the others to try their keys on.
const keyCheck = "key-check"

// Check tells whether tokens can be kept, and with the key that the other processes have. It fails as Open does.
func (v *Vault) Check(ctx context.Context) error {
	sealed, err := seal(v.aead, keyCheck, []byte(keyCheck))
	if err != nil {
		return err
	}
	err = v.retry(ctx, func() error {
		_, err := v.kv.Create(ctx, keyCheck, sealed)
		return err
	})
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return unavailable(err)
	}
	entry, err := v.kv.Get(ctx, keyCheck)
	if err != nil {
		return unavailable(err)
	}
	if _, err := unseal(v.aead, keyCheck, entry.Value()); err != nil {
		return schema.Errorf(schema.CodeInvalid, "The secret key isn't the one that the other processes of this installation have.").
			WithHint("Give all of them the same --secret-key (COPILOT_SECRET_KEY).").WithCause(err)
	}
	return nil
}

// retry runs an operation once more when it fails for want of the bucket.
func (v *Vault) retry(ctx context.Context, op func() error) error {
	err := op()
	for _, gone := range []error{jetstream.ErrNoStreamResponse, jetstream.ErrBucketNotFound, jetstream.ErrStreamNotFound, nats.ErrNoResponders} {
		if errors.Is(err, gone) {
			if err := v.makeBucket(ctx); err != nil {
				return err
			}
			return op()
		}
	}
	return err
}

// seal and unseal bind a text to the name it is kept under.
func seal(aead cipher.AEAD, name string, plain []byte) ([]byte, error) {
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(plain)+aead.Overhead())
	if _, err := rand.Read(nonce); err != nil {
		return nil, fmt.Errorf("seal credential: %w", err)
	}
	return aead.Seal(nonce, nonce, plain, []byte(name)), nil
}

func unseal(aead cipher.AEAD, name string, sealed []byte) ([]byte, error) {
	size := aead.NonceSize()
	if len(sealed) < size {
		return nil, errors.New("sealed credential is too short")
	}
	return aead.Open(nil, sealed[:size], sealed[size:], []byte(name))
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
	// Whose it is, and for which project. Both are sealed with the token.
	User    string `json:"user"`
	Project string `json:"project"`
}

// Put keeps the token that a turn acts with: its owner's, for its project. It fails with CodeUnavailable.
func (v *Vault) Put(ctx context.Context, ref schema.TurnRef, token string) (err error) {
	ctx, span := observe.Start(ctx, "keep token")
	defer func() { observe.End(span, err) }()
	name := slot(ref.TurnID, ref.UserID)
	plain, err := json.Marshal(credential{Token: token, Expires: expiry(token, v.now()), User: ref.UserID, Project: ref.ProjectID})
	if err != nil {
		return fmt.Errorf("seal credential: %w", err)
	}
	sealed, err := seal(v.aead, name, plain)
	if err != nil {
		return err
	}
	return unavailable(v.retry(ctx, func() error {
		_, err := v.kv.Put(ctx, name, sealed)
		return err
	}))
}

// Token gives the turn's live token. It fails with CodeCredentialMissing when there is none, and with CodeUnavailable.
func (v *Vault) Token(ctx context.Context, turnID, userID string) (_ string, err error) {
	ctx, span := observe.Start(ctx, "fetch token")
	defer func() { observe.End(span, err) }()
	c, _, err := v.credential(ctx, slot(turnID, userID))
	if err != nil {
		return "", err
	}
	if !v.now().Before(c.Expires) {
		return "", missing(errors.New("token expired"))
	}
	return c.Token, nil
}

// Refused forgets a token that the GNS3 server doesn't take any more, such as one that was revoked, unless another has come since. It
// gives the error of a turn without a token, or CodeUnavailable.
func (v *Vault) Refused(ctx context.Context, turnID, userID, token string) error {
	name := slot(turnID, userID)
	c, revision, err := v.credential(ctx, name)
	if err != nil {
		return err
	}
	if c.Token == token {
		err = v.kv.Purge(ctx, name, jetstream.LastRevision(revision))
	}
	if newer, ok := errors.AsType[*jetstream.APIError](err); err != nil && !(ok && newer.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence) {
		return unavailable(err)
	}
	return missing(errors.New("token refused by GNS3"))
}

// credential reads what is kept under a name, with its revision.
func (v *Vault) credential(ctx context.Context, name string) (c credential, revision uint64, err error) {
	var entry jetstream.KeyValueEntry
	err = v.retry(ctx, func() (err error) {
		entry, err = v.kv.Get(ctx, name)
		return err
	})
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return c, 0, missing(nil)
	}
	if err != nil {
		return c, 0, unavailable(err)
	}
	c, err = v.open(name, entry.Value())
	return c, entry.Revision(), err
}

func (v *Vault) open(name string, sealed []byte) (c credential, err error) {
	plain, err := unseal(v.aead, name, sealed)
	if err != nil {
		return c, missing(fmt.Errorf("open credential: %w", err))
	}
	if err := json.Unmarshal(plain, &c); err != nil {
		return c, missing(errors.New("sealed credential can't be read"))
	}
	return c, nil
}

// Drop forgets the turn's token.
func (v *Vault) Drop(ctx context.Context, turnID, userID string) (err error) {
	ctx, span := observe.Start(ctx, "drop token")
	defer func() { observe.End(span, err) }()
	return unavailable(v.retry(ctx, func() error { return v.kv.Purge(ctx, slot(turnID, userID)) }))
}

// slot names the place of a turn's token. The user is part of it, so that nobody's token stands in for another's.
func slot(turnID, userID string) string {
	sum := sha256.Sum256([]byte(userID))
	return turnID + "." + hex.EncodeToString(sum[:12])
}

// expiry is when a token ends, and is forgotten at the latest.
func expiry(token string, now time.Time) time.Time {
	latest := now.Add(maxLife)
	if expires, told := schema.TokenExpiry(token); told && expires.Before(latest) {
		return expires
	}
	return latest
}

func missing(cause error) error {
	return schema.Errorf(schema.CodeCredentialMissing, "The turn has no valid GNS3 login to act with.").
		WithHint("Open the session again while you are logged in; the turn then goes on.").WithCause(cause)
}

func unavailable(err error) error {
	if _, ours := errors.AsType[*schema.Error](err); err == nil || ours || errors.Is(err, context.Canceled) {
		return err
	}
	return schema.Errorf(schema.CodeUnavailable, "The credential store can't be used at the moment.").
		WithHint("Try again; if it stays, look whether NATS is running and has room on its disk.").WithCause(err)
}
