// SPDX-License-Identifier: Apache-2.0

// Package imagefile takes single files out of container images.
//
// Neither the image nor its registry is trusted. Nothing of an image gets onto a file system but the content of the one file that was asked
// for, and its layers as they came, packed: paths and links of an image lead to nowhere but into the image. What was read has the
// digest of the manifest. Size, unpacked size, number of names and links on the way to the file are bounded, and so is the time, by the
// caller.
package imagefile
