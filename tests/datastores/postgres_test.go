// SPDX-License-Identifier: Apache-2.0

package datastores_test

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// postgres is a PostgreSQL of its own.
type postgres struct{ database }

// newPostgres creates and starts a server, with TLS if there are certificates.
func newPostgres(t *testing.T, keys *certificates) *postgres {
	t.Helper()
	initdb := program(t, "initdb")
	p := &postgres{database{product: "PostgreSQL", end: syscall.SIGQUIT}}
	p.place(t, keys)
	write(t, p.file("password"), []byte(password+"\n"))
	p.prepare(t, initdb, "--pgdata", p.file("data"), "--username", "garden", "--pwfile", p.file("password"),
		"--auth", "scram-sha-256", "--no-sync", "--encoding", "UTF8", "--locale", "C")
	if keys != nil {
		write(t, p.file("data/pg_hba.conf"), []byte("hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\n")) //nolint:dupword // The second "all" is another column.
		own(t, p.dir)
	}
	p.start(t)

	return p
}

// start runs the server, and returns once it answers.
func (p *postgres) start(t *testing.T) {
	t.Helper()
	host, port, err := net.SplitHostPort(p.address)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-D", p.file("data"), "-p", port, "-c", "listen_addresses=" + host, "-c", "unix_socket_directories=" + p.dir}
	if p.encrypted() {
		args = append(args, "-c", "ssl=on", "-c", "ssl_cert_file="+p.file("server.crt"), "-c", "ssl_key_file="+p.file("server.key"), "-c", "ssl_ca_file="+p.file("ca.crt"))
	}
	p.run(t, program(t, "postgres"), args...)
}

// endpoint is the URL of a database, with the password.
func (p *postgres) endpoint(database string) string {
	return fmt.Sprintf("postgres://garden:%s@%s/%s", password, p.address, database)
}

// program finds a program of PostgreSQL, which Debian keeps out of the PATH.
func program(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil || len(found) == 0 {
		t.Skipf("%s of PostgreSQL is not installed: run make test-datastores, which installs it", name)
	}

	return found[len(found)-1]
}
