// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

const (
	testHash   = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	testSecret = "0123456789abcdef"
	testToken  = "T10" + testHash + "::abcdef." + testSecret
)

func TestParseJoinToken(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		text   string
		want   identity.JoinToken
		is     error
		says   string
	}{
		"Good": {
			reason: "The documented form is read.",
			text:   testToken,
			want:   identity.JoinToken{CAHash: testHash, ID: "abcdef", Secret: testSecret},
		},
		"Pasted": {
			reason: "Blanks around a pasted token mean nothing.",
			text:   " " + testToken + "\n",
			want:   identity.JoinToken{CAHash: testHash, ID: "abcdef", Secret: testSecret},
		},
		"Unpinned": {
			reason: "A bare bootstrap token is a special case, since a caller may allow it.",
			text:   "abcdef." + testSecret,
			is:     identity.ErrUnpinned, says: "does not contain the hash of a CA",
		},
		"Empty": {
			reason: "An unset variable gives an empty token.",
			is:     identity.ErrMalformedToken, says: "does not begin with T10",
		},
		"OtherTool": {
			reason: "The tokens of other products look alike.",
			text:   "K10" + testHash + "::server:" + testSecret,
			is:     identity.ErrMalformedToken, says: "does not begin with T10",
		},
		"ShortHash": {
			reason: "A hash that was cut pins nothing.",
			text:   "T10" + testHash[:60] + "::abcdef." + testSecret,
			is:     identity.ErrMalformedToken, says: "hash of the CA must have 64 characters",
		},
		"NoHash": {
			reason: "An empty hash must not pass as one that fits all.",
			text:   "T10::abcdef." + testSecret,
			is:     identity.ErrMalformedToken, says: "hash of the CA must have 64 characters",
		},
		"NoHexHash": {
			reason: "Only hexadecimal digits are a hash.",
			text:   "T10" + strings.Repeat("x", 64) + "::abcdef." + testSecret,
			is:     identity.ErrMalformedToken, says: "hash of the CA must have 64 characters",
		},
		"NoSeparator": {
			reason: "One colon is not two.",
			text:   "T10" + testHash + ":abcdef." + testSecret,
			is:     identity.ErrMalformedToken, says: "does not have :: between the hash and the id",
		},
		"NoDot": {
			reason: "The id and the secret are apart.",
			text:   "T10" + testHash + "::abcdef" + testSecret,
			is:     identity.ErrMalformedToken, says: "does not have a dot between the id and the secret",
		},
		"BadID": {
			reason: "Upper case is not in the alphabet.",
			text:   "T10" + testHash + "::ABCDEF." + testSecret,
			is:     identity.ErrMalformedToken, says: "the id must have 6 characters",
		},
		"CutSecret": {
			reason: "A token that was cut while copying says how much is there.",
			text:   "T10" + testHash + "::abcdef." + testSecret[:9],
			is:     identity.ErrMalformedToken, says: "the secret must have 16 characters of a-z and 0-9, but it has 9",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := identity.ParseJoinToken(tc.text)
			if diff := cmp.Diff(tc.is, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nParseJoinToken(%q) error (-want +got):\n%s", tc.reason, tc.text, diff)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nParseJoinToken(%q) (-want +got):\n%s", tc.reason, tc.text, diff)
			}
			if err == nil {
				return
			}
			for _, want := range []string{tc.says, "expected T10<sha256"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s\nParseJoinToken(%q) = %q, want it to contain %q", tc.reason, tc.text, err, want)
				}
			}
			if strings.Contains(err.Error(), testSecret[:9]) {
				t.Errorf("Errors end up in logs and must not hold secrets.\nParseJoinToken(...) = %q", err)
			}
		})
	}
}

func TestJoinTokenText(t *testing.T) {
	t.Parallel()

	made := identity.NewJoinToken(testHash)
	read, err := identity.ParseJoinToken(made.String())
	if err != nil {
		t.Fatalf("A token that was made can be read.\nParseJoinToken(...) = %v", err)
	}
	if diff := cmp.Diff(made, read); diff != "" {
		t.Errorf("ParseJoinToken(t.String()) (-want +got):\n%s", diff)
	}
	if again := identity.NewJoinToken(testHash); again.ID == made.ID || again.Secret == made.Secret {
		t.Error("Tokens are random, but two in a row are alike")
	}
	if !identity.IsTokenID(made.ID) || identity.IsTokenID(made.BootstrapToken()) {
		t.Error("IsTokenID(...) tells ids from other text, but does not")
	}
	bare := identity.JoinToken{ID: "abcdef", Secret: testSecret}
	if diff := cmp.Diff("abcdef."+testSecret, bare.String()); diff != "" {
		t.Errorf("Without a hash, the token is a bootstrap token.\nString() (-want +got):\n%s", diff)
	}
	unpinned, err := identity.ParseUnpinnedToken(bare.String() + "\n")
	if err != nil {
		t.Fatalf("ParseUnpinnedToken(...) = %v", err)
	}
	if diff := cmp.Diff(bare, unpinned); diff != "" {
		t.Errorf("ParseUnpinnedToken(t.String()) (-want +got):\n%s", diff)
	}

	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("Joining", "with", made)
	if strings.Contains(b.String(), made.Secret) || !strings.Contains(b.String(), made.ID) {
		t.Errorf("A log tells which token it was, but not its secret.\nline: %s", &b)
	}
}
