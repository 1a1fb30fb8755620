// SPDX-License-Identifier: Apache-2.0

// Package dnsrecord makes the records of a shoot known to its machines: as lines of a hosts file that every machine mounts. There is no
// name server, so only names with addresses can be served: no aliases, no wildcards.
package dnsrecord
