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

// JoinToken lets a seed join: a bootstrap token, and the hash of the CA that the garden has to prove.
type JoinToken struct {
	// CAHash is what HashCA returns for the garden's CA bundle. It is empty for a token that pins no CA.
	CAHash string
	// ID is the public half of the bootstrap token.
	ID string
	// Secret is the other half.
	Secret string
}

// NewJoinToken makes a token with a random id and secret.
func NewJoinToken(caHash string) JoinToken {
	return JoinToken{CAHash: caHash, ID: randomText(tokenIDLength), Secret: randomText(tokenSecretLength)}
}

// randomText takes n of the 26 random characters that rand.Text gives, each worth five bits.
func randomText(n int) string { return strings.ToLower(rand.Text())[:n] }

// ParseJoinToken reads what JoinToken.String has written. The error of a token without a CA hash, which is a bare
// bootstrap token, wraps ErrUnpinned; that of any other text wraps ErrMalformedToken and says what is wrong with it
// without repeating it.
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
		return JoinToken{}, malformed("it has no :: between the hash and the id")
	}
	if len(hash) != tokenHashLength || !consistsOf(hash, hexDigits) {
		return JoinToken{}, malformed(fmt.Sprintf("its hash of the CA has to be %d characters of 0-9 and a-f", tokenHashLength))
	}
	t, err := parseBootstrapToken(credential)
	if err != nil {
		return JoinToken{}, err
	}
	t.CAHash = hash
	return t, nil
}

// ParseUnpinnedToken reads a bare bootstrap token, <id>.<secret>. Who joins with it cannot tell the garden from
// somebody who pretends to be the garden.
func ParseUnpinnedToken(text string) (JoinToken, error) {
	return parseBootstrapToken(strings.TrimSpace(text))
}

func parseBootstrapToken(text string) (JoinToken, error) {
	id, secret, found := strings.Cut(text, ".")
	switch {
	case !found:
		return JoinToken{}, malformed("it has no dot between the id and the secret")
	case len(id) != tokenIDLength || !consistsOf(id, tokenAlphabet):
		return JoinToken{}, malformed(fmt.Sprintf("its id has to be %d characters of a-z and 0-9", tokenIDLength))
	case len(secret) != tokenSecretLength || !consistsOf(secret, tokenAlphabet):
		return JoinToken{}, malformed(fmt.Sprintf("its secret has to be %d characters of a-z and 0-9, but has %d or others",
			tokenSecretLength, len(secret)))
	}
	return JoinToken{ID: id, Secret: secret}, nil
}

// IsTokenID reports whether text has the form of a token's id.
func IsTokenID(text string) bool {
	return len(text) == tokenIDLength && consistsOf(text, tokenAlphabet)
}

// String is the token as it is handed to the seed's owner. It holds the secret.
func (t JoinToken) String() string {
	if t.CAHash == "" {
		return t.BootstrapToken()
	}
	return tokenPrefix + t.CAHash + "::" + t.BootstrapToken()
}

// BootstrapToken is the credential by which the API server knows the token. It holds the secret.
func (t JoinToken) BootstrapToken() string { return t.ID + "." + t.Secret }

// LogValue keeps the secret out of logs.
func (t JoinToken) LogValue() slog.Value { return slog.StringValue(t.ID + "." + tokenRedaction) }

func malformed(problem string) error {
	return fmt.Errorf("%w: %s; %s", ErrMalformedToken, problem, tokenForm)
}

func consistsOf(text, alphabet string) bool {
	return strings.Trim(text, alphabet) == ""
}
