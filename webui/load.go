// SPDX-License-Identifier: Apache-2.0

package webui

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// site is a build with what is known about its files.
type site struct {
	source fs.FS
	// page is index.html, split where the nonce belongs; empty if there is no build.
	page  []string
	files map[string]file
}

// file is a file that is served as it is.
type file struct {
	name string
	// kind is the media type, tag the entity tag.
	kind, tag string
	// encodings are the names of its compressed forms, by encoding.
	encodings map[string]string
}

// compressed are the suffixes of compressed files by encoding, the smallest first.
func compressed() []struct{ encoding, suffix string } {
	return []struct{ encoding, suffix string }{{"br", ".br"}, {"gzip", ".gz"}}
}

// kinds are the media types of the files in a build. Files of other types are not served: what the system says about a suffix
// differs from machine to machine.
func kinds() map[string]string {
	return map[string]string{
		".css": "text/css; charset=utf-8", ".ico": "image/x-icon", ".js": "text/javascript; charset=utf-8", ".json": "application/json",
		".png": "image/png", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json",
		".webp": "image/webp", ".woff2": "font/woff2",
	}
}

func load(source fs.FS) (*site, error) {
	s := &site{source: source, files: map[string]file{}}
	text, err := fs.ReadFile(source, page)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	s.page = strings.Split(string(text), noncePlace)
	err = fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
		if name != "." && strings.HasPrefix(path.Base(name), ".") && entry.IsDir() {
			return fs.SkipDir // Notes of the build.
		}
		kind := kinds()[path.Ext(name)]
		if err != nil || entry.IsDir() || kind == "" {
			return err
		}
		s.files[name], err = describe(source, name, kind)

		return err
	})

	return s, err
}

func describe(source fs.FS, name, kind string) (file, error) {
	f := file{name: name, kind: kind, encodings: map[string]string{}}
	content, err := source.Open(name)
	if err != nil {
		return f, err
	}
	defer content.Close() //nolint:errcheck // nothing is written
	hash := sha256.New()
	if _, err := io.Copy(hash, content); err != nil {
		return f, fmt.Errorf("read %q: %w", name, err)
	}
	f.tag = base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:15])
	for _, c := range compressed() {
		if _, err := fs.Stat(source, name+c.suffix); err == nil {
			f.encodings[c.encoding] = name + c.suffix
		}
	}

	return f, nil
}

// serve answers with a file, in the smallest form that the client accepts.
func (s *site) serve(w http.ResponseWriter, r *http.Request, f file) {
	name, tag := f.name, f.tag
	h := w.Header()
	for _, c := range compressed() {
		if smaller, ok := f.encodings[c.encoding]; ok && accepts(r, c.encoding) {
			name, tag = smaller, tag+"-"+c.encoding
			h.Set("Content-Encoding", c.encoding)

			break
		}
	}
	content, err := s.source.Open(name)
	if err != nil {
		http.Error(w, "The file cannot be read.", http.StatusInternalServerError)

		return
	}
	defer content.Close() //nolint:errcheck // nothing is written
	seeker, ok := content.(io.ReadSeeker)
	if !ok {
		http.Error(w, "The file cannot be read.", http.StatusInternalServerError)

		return
	}
	h.Set("Content-Type", f.kind)
	h.Set("ETag", `"`+tag+`"`)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(f.name, assets) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, "", time.Time{}, seeker)
}

// accepts reports whether a client accepts an encoding. Browsers name those they accept, and exclude none by a weight of zero.
func accepts(r *http.Request, encoding string) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(part, ";")
		if strings.TrimSpace(name) == encoding {
			return strings.ReplaceAll(weight, " ", "") != "q=0"
		}
	}

	return false
}
