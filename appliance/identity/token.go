// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
)

const (
	tokenPrefix       = "T10"
	tokenHashLength   = 64
	tokenIDLength     = 6
	tokenSecretLength = 16

	tokenForm = `expected T10<sha256 of the garden's CA>::<id>.<secret>, as printed by "terrarium token create"`

	hexDigits      = "0123456789abcdef"
	tokenAlphabet  = "abcdefghijklmnopqrstuvwxyz0123456789"
	tokenRedaction = "[redacted]"
)

// JoinToken is a token for joining a seed: a bootstrap token, and a hash of the garden's CA.
type JoinToken struct {
	// CAHash is the result of HashCA for the garden's CA bundle. It may be empty.
	CAHash string
	// ID is the public part of the bootstrap token.
	ID string
	// Secret is the secret part.
	Secret string
}

// NewJoinToken returns a token with a random id and secret.
func NewJoinToken(caHash string) JoinToken {
	return JoinToken{CAHash: caHash, ID: randomText(tokenIDLength), Secret: randomText(tokenSecretLength)}
}

// randomText returns n of the random characters of rand.Text, which have five bits each.
func randomText(n int) string { return strings.ToLower(rand.Text())[:n] }

// ParseJoinToken parses the result of JoinToken.String. For a bootstrap token without a hash, the error wraps ErrUnpinned. For any
// other text, it wraps ErrMalformedToken and says what is wrong without repeating the text.
func ParseJoinToken(text string) (JoinToken, error) {
	text = strings.TrimSpace(text)
	rest, pinned := strings.CutPrefix(text, tokenPrefix)
	if !pinned {
		if _, err := ParseUnpinnedToken(text); err == nil {
			return JoinToken{}, fmt.Errorf("%w: %s", ErrUnpinned, tokenForm)
		}
		return JoinToken{}, malformed("it does not begin with " + tokenPrefix)
	}
	hash, credential, found := strings.Cut(rest, "::")
	if !found {
		return JoinToken{}, malformed("it does not have :: between the hash and the id")
	}
	if len(hash) != tokenHashLength || !consistsOf(hash, hexDigits) {
		return JoinToken{}, malformed(fmt.Sprintf("the hash of the CA must have %d characters of 0-9 and a-f", tokenHashLength))
	}
	t, err := parseBootstrapToken(credential)
	if err != nil {
		return JoinToken{}, err
	}
	t.CAHash = hash
	return t, nil
}

// ParseUnpinnedToken parses a bootstrap token, <id>.<secret>. The garden cannot be verified with it.
func ParseUnpinnedToken(text string) (JoinToken, error) {
	return parseBootstrapToken(strings.TrimSpace(text))
}

func parseBootstrapToken(text string) (JoinToken, error) {
	id, secret, found := strings.Cut(text, ".")
	switch {
	case !found:
		return JoinToken{}, malformed("it does not have a dot between the id and the secret")
	case len(id) != tokenIDLength || !consistsOf(id, tokenAlphabet):
		return JoinToken{}, malformed(fmt.Sprintf("the id must have %d characters of a-z and 0-9", tokenIDLength))
	case len(secret) != tokenSecretLength || !consistsOf(secret, tokenAlphabet):
		return JoinToken{}, malformed(fmt.Sprintf("the secret must have %d characters of a-z and 0-9, but it has %d or other characters",
			tokenSecretLength, len(secret)))
	}
	return JoinToken{ID: id, Secret: secret}, nil
}

// IsTokenID reports whether text has the form of a token's id.
func IsTokenID(text string) bool {
	return len(text) == tokenIDLength && consistsOf(text, tokenAlphabet)
}

// String returns the token as it is passed to the owner of a seed. It contains the secret.
func (t JoinToken) String() string {
	if t.CAHash == "" {
		return t.BootstrapToken()
	}
	return tokenPrefix + t.CAHash + "::" + t.BootstrapToken()
}

// BootstrapToken returns the bootstrap token with which to authenticate to the API server. It contains the secret.
func (t JoinToken) BootstrapToken() string { return t.ID + "." + t.Secret }

// LogValue returns the token without its secret, for logs.
func (t JoinToken) LogValue() slog.Value { return slog.StringValue(t.ID + "." + tokenRedaction) }

func malformed(problem string) error {
	return fmt.Errorf("%w: %s; %s", ErrMalformedToken, problem, tokenForm)
}

func consistsOf(text, alphabet string) bool {
	return strings.Trim(text, alphabet) == ""
}
