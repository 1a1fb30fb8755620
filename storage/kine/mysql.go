// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
	"go.etcd.io/etcd/client/pkg/v3/transport"
)

const mysqlScheme = "mysql://"

// MySQL reports whether the objects are in a MySQL.
func (c Config) MySQL() bool { return strings.HasPrefix(c.Endpoint, mysqlScheme) }

var errMySQLURL = errors.New("connect to MySQL: the URL cannot be read")

// OpenMySQL connects to the database that Kine uses: without a name it is called kubernetes. Errors do not repeat the URL.
func OpenMySQL(c Config) (*sql.DB, error) {
	config, err := mysql.ParseDSN(strings.TrimPrefix(c.Endpoint, mysqlScheme))
	if err != nil {
		return nil, errMySQLURL
	}
	if config.DBName == "" {
		config.DBName = "kubernetes"
	}
	if c.TLS != (TLS{}) {
		config.TLS, err = transport.TLSInfo{CertFile: c.TLS.CertFile, KeyFile: c.TLS.KeyFile, TrustedCAFile: c.TLS.CAFile}.ClientConfig()
		if err != nil {
			return nil, fmt.Errorf("read certificates of the datastore: %w", err)
		}
		config.TLS.MinVersion = tls.VersionTLS12
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, errMySQLURL
	}

	return sql.OpenDB(connector), nil
}

// keysByBytes has MySQL compare keys by their bytes, as an etcd does. In the table that Kine creates, keys that differ only in upper and lower
// case are the same one.
func keysByBytes(ctx context.Context, c Config) (err error) {
	db, err := OpenMySQL(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var is string
	const ask = `SELECT collation_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'kine' AND column_name = 'name'`
	if err := db.QueryRowContext(ctx, ask).Scan(&is); err != nil {
		return fmt.Errorf("look how MySQL compares keys: %w", err)
	}
	if is == "ascii_bin" {
		return nil
	}
	if _, err := db.ExecContext(ctx, "ALTER TABLE kine MODIFY COLUMN name VARCHAR(630) CHARACTER SET ascii COLLATE ascii_bin"); err != nil {
		return fmt.Errorf("have MySQL compare keys by their bytes: %w", err)
	}

	return nil
}
