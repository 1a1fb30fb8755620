// SPDX-License-Identifier: Apache-2.0

// Package images assembles container images from files, without a builder, a daemon or a registry: each
// becomes a docker-archive, as "docker save" writes it, with uncompressed layers that depend on nothing
// but the contents of the files in them.
package images
