// SPDX-License-Identifier: Apache-2.0

package datastores_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/generations"
	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// behind is the clock of the server that begins a change of the encryption key: to one with the right time, the hour for which the
// former key is kept has passed.
const behind = -90 * time.Minute

// writersPace leaves something of the machine for what is tested.
const writersPace = 300 * time.Millisecond

// certificatesNow is what the server that leads says about keys.
type certificatesNow struct {
	Generation int64 `json:"generation"`
	Servers    []struct {
		Address    string `json:"address"`
		Generation int64  `json:"generation"`
		Leads      bool   `json:"leads"`
		Runs       bool   `json:"runs"`
		Current    bool   `json:"current"`
		Failure    string `json:"failure"`
	} `json:"servers"`
	Encryption *struct {
		Next identity.EncryptionStep `json:"next"`
	} `json:"encryption"`
}

func TestRotateKeysOnPostgres(t *testing.T) {
	t.Parallel()
	rotateKeys(t, newPostgres(t, nil).endpoint("rotated"))
}

func TestRotateKeysOnEtcd(t *testing.T) {
	t.Parallel()
	rotateKeys(t, newEtcd(t, nil).endpoint())
}

// rotateKeys changes all keys and authorities of a garden with two servers while clients write, loses the server that has done so, changes
// more while it is off, and loses the other one when it is back (OPER-ROT-1, OPER-ROT-4, OPER-ROT-9).
func rotateKeys(t *testing.T, endpoint string) {
	t.Helper()
	first, second := twoAt(t, endpoint, behind)
	w := startPacedWriters(t, writersPace, first, second)
	w.await(t, second, 20)
	former := second.config(t)
	before := contents(t, first)

	for _, args := range [][]string{
		{"rotate-service-account-key", "start"},
		{"rotate-service-account-key", "complete", "--force"},
		{"rotate-workload-identity-key", "start"},
		{"rotate-workload-identity-key", "complete", "--force"},
		{"rotate-ca", "start"},
		{"rotate-ca", "complete"},
	} {
		command(t, 0, append([]string{"certificate", "--data-dir", first.dir}, args...)...)
	}
	rotate(t, first, "encryptionKey", "", "")
	awaitCertificates(t, first, "all objects are written with the new key", func(is *certificatesNow) error {
		if is.Encryption == nil || is.Encryption.Next != identity.EncryptionRemove {
			return fmt.Errorf("encryption %+v", is.Encryption)
		}

		return nil
	})
	awaitHolders(t, first)
	changed(t, before, contents(t, first))
	alike(t, first, second)
	secret(t, endpoint, first, second)

	first.end(t, syscall.SIGKILL)
	second.await(t, saysReady, takeOver+10*time.Second)
	w.await(t, second, w.count(second)+20)
	onlyNew(t, former, second.config(t))
	served(t, second)
	awaitCertificates(t, second, "the server that leads now ends the change of the encryption key", func(is *certificatesNow) error {
		if is.Encryption != nil {
			return fmt.Errorf("next %s", is.Encryption.Next)
		}

		return nil
	})
	w.check(t, second)

	// More changes while the first one is off, which holds nobody up for long.
	rotate(t, second, "serviceAccountKey", "start", "")
	rotate(t, second, "serviceAccountKey", "complete", "")
	awaitCertificates(t, second, "one server is known to be off", func(is *certificatesNow) error {
		if len(is.Servers) != 2 || is.Servers[0].Runs == is.Servers[1].Runs {
			return fmt.Errorf("%+v", is)
		}

		return nil
	})
	first.clockBy = 0
	first.run(t, endpoint)
	first.await(t, saysStandby, harness.Patience)
	awaitHolders(t, second)
	alike(t, first, second)
	second.end(t, syscall.SIGKILL)
	first.await(t, saysReady, takeOver+10*time.Second)
	served(t, first)
	w.await(t, first, w.count(first)+20)
	w.stop()
	w.check(t, first)
}

// onlyNew checks that a server uses the authorities of a configuration, and not those of a former one.
func onlyNew(t *testing.T, former, now *rest.Config) {
	t.Helper()
	get := func(c *rest.Config) error {
		return kubernetes.NewForConfigOrDie(c).RESTClient().Get().AbsPath("/api/v1/namespaces").Do(t.Context()).Error()
	}
	if err := get(now); err != nil {
		t.Errorf("A client of the new authorities is served: got %v", err)
	}
	trusting, certified := rest.CopyConfig(now), rest.CopyConfig(now)
	trusting.CAData = former.CAData
	if err := get(trusting); err == nil || !strings.Contains(err.Error(), "x509") {
		t.Errorf("The certificate of the server is not of the former authority: got %v", err)
	}
	certified.CertData, certified.KeyData = former.CertData, former.KeyData
	if err := get(certified); !apierrors.IsUnauthorized(err) {
		t.Errorf("Certificates of the former authority are refused: got %v", err)
	}
}

// TestOldSealingKey starts a server whose bundle is of no use anymore, when keys have changed: it says what to do, and works after that.
func TestOldSealingKey(t *testing.T) {
	t.Parallel()
	endpoint := newPostgres(t, nil).endpoint("sealed")
	first, second := two(t, endpoint)
	second.end(t, syscall.SIGTERM)
	write(t, filepath.Join(second.dir, "pki", "bundle.key"), []byte(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), 32))))
	rotate(t, first, "serviceAccountKey", "start", "")
	refusesToServe(t, second, endpoint, "terrarium bundle import --force")
	join(t, first, second, "--force")
	second.run(t, endpoint)
	second.await(t, saysStandby, harness.Patience)
	awaitHolders(t, first)
	alike(t, first, second)
}

// TestFrozenServerIsWaitedFor freezes the server that stands by: the change after the next one waits, until that server counts as off.
func TestFrozenServerIsWaitedFor(t *testing.T) {
	t.Parallel()
	endpoint := newPostgres(t, nil).endpoint("waited")
	first, second := two(t, endpoint)
	awaitHolders(t, first)
	if err := second.command.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	rotate(t, first, "serviceAccountKey", "start", "")
	began := time.Now()
	rotate(t, first, "workloadIdentityKey", "start", "")
	if took := time.Since(began); took < generations.Patience/2 {
		t.Errorf("A change waits for each server that may run: got after %s", took)
	}
	if err := second.command.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	awaitHolders(t, first)
	alike(t, first, second)

	// A server that has taken the lead meanwhile has marked the keys as its own.
	d := generations.Datastore{Client: connect(t, endpoint)}
	is, err := d.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	taken := *is
	taken.By = "another server"
	if err := d.Replace(t.Context(), is, taken); err != nil {
		t.Fatal(err)
	}
	before := contents(t, first)
	rotate(t, first, "serviceAccountKey", "complete", "another server of this garden leads")
	if !bytes.Equal(before["pki/service-account-former.pub"], contents(t, first)["pki/service-account-former.pub"]) {
		t.Error("What cannot be published is not made.")
	}
}

// connect reaches a datastore as a server does.
func connect(t *testing.T, endpoint string) *clientv3.Client {
	t.Helper()
	config := kine.NewConfig(filepath.Join(t.TempDir(), "db"))
	config.Endpoint = endpoint
	stores, err := kine.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stores.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := stores.Connection()
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// rotate asks a server for a change of keys, and forces what is completed. It names a text that a refusal must have; without one, it must
// not be refused.
func rotate(t *testing.T, m *member, what, phase, refusal string) {
	t.Helper()
	config := m.config(t)
	config.Timeout = harness.Patience
	body := fmt.Appendf(nil, `{"rotate":%q,"phase":%q,"force":%t}`, what, phase, phase == "complete")
	answer, err := kubernetes.NewForConfigOrDie(config).RESTClient().Post().AbsPath("/appliance/certificates").
		SetHeader("Content-Type", "application/json").Body(body).Do(t.Context()).Raw()
	if (err != nil) != (refusal != "") || !strings.Contains(string(answer), refusal) {
		t.Fatalf("%s: got %v, %s", body, err, answer)
	}
}

func awaitCertificates(t *testing.T, m *member, what string, done func(*certificatesNow) error) {
	t.Helper()
	harness.Eventually(t, what, func(ctx context.Context) error {
		config, err := m.access()
		if err != nil {
			return err
		}
		data, err := kubernetes.NewForConfigOrDie(config).RESTClient().Get().AbsPath("/appliance/certificates").DoRaw(ctx)
		if err != nil {
			return err
		}
		is := &certificatesNow{}
		if err := json.Unmarshal(data, is); err != nil {
			return err
		}

		return done(is)
	})
}

// awaitHolders waits until both servers run and have the newest keys, which the command line shows.
func awaitHolders(t *testing.T, m *member) {
	t.Helper()
	const want = 2
	awaitCertificates(t, m, "all servers have the newest keys", func(is *certificatesNow) error {
		// What is shown about the servers can be some seconds old.
		held, err := identity.Held(m.dir)
		if err != nil || held.Number != is.Generation {
			return fmt.Errorf("generation %d is there, %d is shown, %w", held.Number, is.Generation, err)
		}
		n := 0
		for _, s := range is.Servers {
			if s.Runs && s.Current && s.Generation == is.Generation {
				n++
			}
		}
		if n != want || is.Generation == 0 {
			return fmt.Errorf("%+v", is)
		}

		return nil
	})
	shown := command(t, 0, "certificate", "check", "--data-dir", m.dir)
	if n := strings.Count(shown, "newest"); n != want || !strings.Contains(shown, "leads") || !strings.Contains(shown, "stands by") {
		t.Errorf("certificate check shows who has which keys: got\n%s", shown)
	}
}

// contents are the keys and authorities in the directory of a server.
func contents(t *testing.T, m *member) map[string][]byte {
	t.Helper()
	files, err := identity.Portable(m.dir)
	if err != nil {
		t.Fatal(err)
	}

	return files
}

// changed checks that there are other keys than before.
func changed(t *testing.T, before, after map[string][]byte) {
	t.Helper()
	for _, name := range []string{
		"server-ca.crt", "server-ca.key", "client-ca.crt", "client-ca.key", "front-proxy-ca.key", "service-account.key", "workload-identity.key", "encryption.yaml",
	} {
		if name = "pki/" + name; bytes.Equal(before[name], after[name]) {
			t.Errorf("%s has changed: it has not", name)
		}
	}
}

// alike checks that two servers have the same keys.
func alike(t *testing.T, a, b *member) {
	t.Helper()
	is, other := digests(contents(t, a)), digests(contents(t, b))
	maps.DeleteFunc(is, func(name, _ string) bool { return !strings.HasPrefix(name, "pki/") })
	maps.DeleteFunc(other, func(name, _ string) bool { return is[name] == "" })
	if diff := cmp.Diff(is, other); diff != "" {
		t.Errorf("Both servers have the same keys: digests (-%s +%s):\n%s", a.address, b.address, diff)
	}
}

// digests are those of files. Unlike keys, they may stand in the log of a test.
func digests(files map[string][]byte) map[string]string {
	found := map[string]string{}
	for name, data := range files {
		found[name] = fmt.Sprintf("%x", sha256.Sum256(data))
	}

	return found
}

// secret looks for keys where they must not be: in the datastore, and in logs.
func secret(t *testing.T, endpoint string, all ...*member) {
	t.Helper()
	found, err := connect(t, endpoint).Get(t.Context(), "/terrarium/", clientv3.WithPrefix())
	if err != nil || len(found.Kvs) < 4 {
		t.Fatalf("The lease, the owner, the keys and the servers are there: got %d, %v", len(found.Kvs), err)
	}
	places := map[string]string{}
	for _, kv := range found.Kvs {
		places["key "+string(kv.Key)] = string(kv.Value)
	}
	for _, m := range all {
		places["log of "+m.address] = m.log.String()
	}
	var secrets []string
	for name, data := range contents(t, all[0]) {
		if strings.HasSuffix(name, ".key") || strings.HasSuffix(name, "encryption.yaml") {
			secrets = append(secrets, strings.TrimSpace(string(data)), base64.StdEncoding.EncodeToString(data))
			for line := range strings.Lines(string(data)) {
				if line = strings.TrimSpace(line); len(line) > 40 {
					secrets = append(secrets, line, strings.TrimPrefix(line, "secret: "))
				}
			}
		}
	}
	for place, text := range places {
		if hasAny(text, secrets) {
			t.Errorf("No key is where others may see it: one is in %s", place)
		}
	}
	// What looks for keys finds them where they are.
	open, err := json.Marshal(map[string]any{"sealed": mustMarshal(t, contents(t, all[0]))})
	if err != nil || !hasAny(string(open), secrets) {
		t.Errorf("Keys that are not sealed are found: %v", err)
	}
}

func mustMarshal(t *testing.T, value any) []byte {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}

	return data
}

// encoded are values in base64 that are long enough to hide a key.
var encoded = regexp.MustCompile(`[A-Za-z0-9+/]{64,}={0,2}`)

// hasAny reports whether a text has one of the secrets, as it is or within base64, of which records have several layers.
func hasAny(text string, secrets []string) bool {
	if slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(text, s) }) {
		return true
	}

	return slices.ContainsFunc(encoded.FindAllString(text, -1), func(value string) bool {
		inner, err := base64.StdEncoding.DecodeString(value)

		return err == nil && hasAny(string(inner), secrets)
	})
}

// served checks that a server uses the keys in its directory: the authority for its certificate, and the key for tokens.
func served(t *testing.T, m *member) {
	t.Helper()
	items, err := identity.Inspect(m.dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	keys, err := kubernetes.NewForConfigOrDie(m.config(t)).RESTClient().Get().AbsPath("/openid/v1/jwks").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range items {
		if items[i].Name == "service-account" && (!strings.Contains(string(keys), items[i].Subject) || strings.Count(string(keys), `"kid"`) != 1) {
			t.Errorf("The server uses its key alone: got %s, want %s", keys, items[i].Subject)
		}
	}
	if _, err := os.Stat(filepath.Join(m.dir, "pki", "service-account-former.pub")); err == nil {
		t.Error("The former key is given up.")
	}
}
