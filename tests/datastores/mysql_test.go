// SPDX-License-Identifier: Apache-2.0

package datastores_test

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/terrarium-garden/terrarium/storage/kine"
)

// mysql is a MariaDB of its own.
type mysql struct{ database }

// newMySQL creates and starts a server, with TLS if there are certificates.
func newMySQL(t *testing.T, keys *certificates) *mysql {
	t.Helper()
	install := mariadb(t, "mariadb-install-db")
	m := &mysql{database{product: "MariaDB", end: syscall.SIGKILL}}
	m.place(t, keys)
	write(t, m.file("init.sql"), []byte("CREATE USER IF NOT EXISTS garden@'127.0.0.1' IDENTIFIED BY '"+password+"';\nGRANT ALL ON *.* TO garden@'127.0.0.1';\n"))
	m.prepare(t, install, "--no-defaults", "--datadir="+m.file("data"), "--auth-root-authentication-method=normal", "--skip-test-db",
		"--skip-name-resolve", "--skip-log-bin", "--innodb-flush-log-at-trx-commit=0")
	m.start(t)

	return m
}

// start runs the server, and returns once it answers.
func (m *mysql) start(t *testing.T) {
	t.Helper()
	host, port, err := net.SplitHostPort(m.address)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{
		"--no-defaults", "--datadir=" + m.file("data"), "--bind-address=" + host, "--port=" + port, "--socket=" + m.file("socket"), "--pid-file=" + m.file("pid"),
		"--init-file=" + m.file("init.sql"), "--skip-name-resolve", "--innodb-buffer-pool-size=32M",
	}
	if m.encrypted() {
		args = append(args, "--require-secure-transport=ON", "--ssl-cert="+m.file("server.crt"), "--ssl-key="+m.file("server.key"), "--ssl-ca="+m.file("ca.crt"))
	}
	m.run(t, mariadb(t, "mariadbd"), args...)
}

// endpoint is the URL of a database, with the password.
func (m *mysql) endpoint(database string) string {
	return fmt.Sprintf("mysql://garden:%s@tcp(%s)/%s", password, m.address, database)
}

// mariadb finds a program, which Debian may keep out of the PATH of users.
func mariadb(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range []string{"", "/usr/sbin", "/usr/bin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	t.Skipf("%s is not installed: run make test-datastores, which installs it", name)

	return ""
}

// TestMySQLKeys has keys that differ only in upper and lower case, which MySQL takes for the same unless told otherwise.
func TestMySQLKeys(t *testing.T) {
	t.Parallel()
	keys := newCertificates(t)
	m := newMySQL(t, keys)
	config := kine.NewConfig(filepath.Join(t.TempDir(), "db"))
	config.Endpoint, config.TLS = m.endpoint("apart"), kine.TLS{CAFile: keys.authorityFile, CertFile: keys.client.certFile, KeyFile: keys.client.keyFile}
	stores, err := kine.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stores.Close(); err != nil {
			t.Error(err)
		}
	}()
	c, err := stores.Connection()
	if err != nil {
		t.Fatal(err)
	}
	const prefix = "/registry/things/"
	for _, key := range []string{"case", "Case", "CASE"} {
		created, err := c.Txn(t.Context()).If(clientv3.Compare(clientv3.ModRevision(prefix+key), "=", 0)).Then(clientv3.OpPut(prefix+key, key)).Commit()
		if err != nil || !created.Succeeded {
			t.Errorf("%q is a key of its own: got %v, %v", key, created, err)
		}
	}
	found, err := c.Get(t.Context(), prefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, kv := range found.Kvs {
		got = append(got, string(kv.Value))
	}
	if diff := cmp.Diff([]string{"CASE", "Case", "case"}, got); diff != "" {
		t.Errorf("Keys are ordered by their bytes (-want +got):\n%s", diff)
	}
}
