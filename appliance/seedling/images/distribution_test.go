// SPDX-License-Identifier: Apache-2.0

package images_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/images"
)

func TestReadDistribution(t *testing.T) {
	t.Parallel()
	const release = "PRETTY_NAME=\"Some Linux\"\nVERSION_CODENAME=bookworm\n"
	for name, tc := range map[string]struct {
		reason string
		files  map[string]string
		want   images.Distribution
		err    error
	}{
		"paragraphs": {
			reason: "Debian 12 describes its sources in paragraphs; updates and other distributions are not its base.",
			files: map[string]string{
				"etc/apt/sources.list.d/debian.sources": `Types: deb
# a remark
URIs: http://deb.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian.gpg

Types: deb
URIs: http://deb.example/security
Suites: bookworm-security
Components: main
`,
				"etc/apt/sources.list.d/a-node.sources": "Types: deb\nURIs: https://node.example\nSuites: nodistro\nComponents: main\n",
			},
			want: images.Distribution{
				Suite: "bookworm", Mirror: "http://deb.example/debian", Components: []string{"main", "contrib"}, Keyring: "/usr/share/keyrings/debian.gpg",
			},
		},
		"lines": {
			reason: "Older systems have one line for each source, with options and remarks.",
			files: map[string]string{"etc/apt/sources.list": `# deb http://off.example bookworm main
deb-src http://src.example/debian bookworm main
deb [ arch=amd64 signed-by=/key.gpg ] https://deb.example/debian bookworm main # the base
`},
			want: images.Distribution{Suite: "bookworm", Mirror: "https://deb.example/debian", Components: []string{"main"}, Keyring: "/key.gpg"},
		},
		"list of mirrors": {
			reason: "Images for clouds name a file with mirrors instead of a mirror.",
			files: map[string]string{
				"etc/apt/sources.list.d/debian.sources": "Types: deb deb-src\nURIs: mirror+file:///etc/apt/mirrors/debian.list\nSuites: bookworm\nComponents: main\n",
				"etc/apt/mirrors/debian.list":           "https://first.example/debian\nhttps://second.example/debian\n",
			},
			want: images.Distribution{Suite: "bookworm", Mirror: "https://first.example/debian", Components: []string{"main"}},
		},
		"key inside": {
			reason: "A key that is written into the source itself is no file for debootstrap.",
			files: map[string]string{
				"etc/apt/sources.list.d/x.sources": "Types: deb\nURIs: http://deb.example\nSuites: bookworm\nComponents: main\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n",
			},
			want: images.Distribution{Suite: "bookworm", Mirror: "http://deb.example", Components: []string{"main"}},
		},
		"medium": {
			reason: "A system installed from a medium may know no mirror.",
			files:  map[string]string{"etc/apt/sources.list": "deb cdrom:[Debian]/ bookworm main\n"},
			err:    images.ErrNoMirror,
		},
		"other suite": {
			reason: "A source of another suite is not this machine's own.",
			files:  map[string]string{"etc/apt/sources.list": "deb http://deb.example/debian trixie main\n"},
			err:    images.ErrNoMirror,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := fstest.MapFS{"etc/os-release": {Data: []byte(release)}}
			for path, content := range tc.files {
				root[path] = &fstest.MapFile{Data: []byte(content)}
			}
			got, err := images.ReadDistribution(root)
			if diff := cmp.Diff(tc.want, got); !errors.Is(err, tc.err) || diff != "" {
				t.Errorf("%s\nReadDistribution() = error %v (-want +got):\n%s", tc.reason, err, diff)
			}
		})
	}
}

func TestReadDistributionWithoutCodename(t *testing.T) {
	t.Parallel()
	for reason, root := range map[string]fstest.MapFS{
		"A distribution without a codename is none that debootstrap knows.": {"etc/os-release": {Data: []byte("ID=fedora\n")}},
		"A machine that does not tell what it is cannot be copied.":         {},
	} {
		if got, err := images.ReadDistribution(root); err == nil {
			t.Errorf("%s\nReadDistribution() = %+v", reason, got)
		}
	}
}
