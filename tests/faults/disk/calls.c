// SPDX-License-Identifier: Apache-2.0

// The linker prefers these functions to those of the C library. Go itself does not use the C library for files, so it is
// SQLite that calls them.

#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "calls.h"

static atomic_int watched;

void disk_watch(void) { atomic_store(&watched, 1); }

// before returns a handle for after; -1 for a file on no disk, -2 if the disk is full.
static int before(int kind, int fd, const char *path, long long offset, long long length) {
	return atomic_load(&watched) ? diskBefore(kind, fd, (char *)path, offset, length) : -1;
}

static long finish(int handle, long result) {
	int error = errno;
	if (handle >= 0) diskAfter(handle, result >= 0);
	errno = error;
	return result;
}

static ssize_t write_at(int fd, const void *data, size_t length, off_t offset) {
	int handle = before(DISK_WRITE, fd, 0, offset, length);
	if (handle == DISK_FULL) {
		errno = ENOSPC;
		return -1;
	}
	return finish(handle, syscall(SYS_pwrite64, fd, data, length, offset));
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { return write_at(fd, data, length, offset); }
ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset) { return write_at(fd, data, length, offset); }

static int cut(int fd, off_t length) {
	return finish(before(DISK_CUT, fd, 0, length, 0), syscall(SYS_ftruncate, fd, length));
}

int ftruncate(int fd, off_t length) { return cut(fd, length); }
int ftruncate64(int fd, off_t length) { return cut(fd, length); }

// What was synced survives the process, as the kernel has it; the medium need not be waited for.
static int sync_file(int fd) {
	int handle = before(DISK_SYNC, fd, 0, 0, 0);
	return finish(handle, handle >= 0 ? 0 : syscall(SYS_fsync, fd));
}

int fsync(int fd) { return sync_file(fd); }
int fdatasync(int fd) { return sync_file(fd); }

int unlink(const char *path) {
	return finish(before(DISK_REMOVE, -1, path, 0, 0), syscall(SYS_unlinkat, -100, path, 0));
}
