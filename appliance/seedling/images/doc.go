// SPDX-License-Identifier: Apache-2.0

// Package images assembles container images from files, without a builder, a daemon or a registry. Each becomes a
// docker-archive, as "docker save" writes it, with uncompressed layers that depend only on the content of their files.
package images
