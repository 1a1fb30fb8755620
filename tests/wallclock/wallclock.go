// SPDX-License-Identifier: Apache-2.0

package wallclock

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	// auxvImage is the type of the entry of the auxiliary vector with the address of the kernel's image (getauxval(3)).
	auxvImage = 33
	auxvEntry = 16
	// imageSize is the size of the kernel's image.
	imageSize = 8192
	// function answers all questions for the time.
	function = "__vdso_clock_gettime"
)

// ErrElsewhere says that the clock can be set on Linux on amd64 only, and only while the kernel lets a process change its own image.
var ErrElsewhere = errors.New("the wall clock of a process cannot be set here")

// Clock is the wall clock of this process.
type Clock struct {
	// ahead is by how many seconds it is ahead. The code in the memory of the process reads it.
	ahead *atomic.Int64
}

// Take takes the wall clock of this process over: the function that the kernel maps into each process is replaced by one that asks the
// kernel and adds what the clock is ahead. It is called before anything else runs, because nobody may be in that function meanwhile.
func Take() (*Clock, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return nil, ErrElsewhere
	}
	image, err := kernelImage()
	if err != nil {
		return nil, err
	}
	entry, err := offset(image)
	if err != nil {
		return nil, err
	}
	data, err := page()
	if err != nil {
		return nil, err
	}
	code, err := page()
	if err != nil {
		return nil, err
	}
	copy(code, answer(address(data)))
	if err := syscall.Mprotect(code, syscall.PROT_READ|syscall.PROT_EXEC); err != nil {
		return nil, fmt.Errorf("make code executable: %w", err)
	}
	// The page becomes one of this process alone.
	if err := syscall.Mprotect(image, syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC); err != nil {
		return nil, fmt.Errorf("%w: make the kernel's image writable: %w", ErrElsewhere, err)
	}
	copy(image[entry:], jump(address(code)))

	return &Clock{ahead: (*atomic.Int64)(unsafe.Pointer(&data[0]))}, nil //nolint:gosec // The page is never given back.
}

// Step sets the clock forward, by whole seconds.
func (c *Clock) Step(by time.Duration) { c.ahead.Add(int64(by / time.Second)) }

// kernelImage returns the image that the kernel has mapped into this process.
func kernelImage() ([]byte, error) {
	vector, err := os.ReadFile("/proc/self/auxv")
	if err != nil {
		return nil, fmt.Errorf("read auxiliary vector: %w", err)
	}
	for ; len(vector) >= auxvEntry; vector = vector[auxvEntry:] {
		if binary.LittleEndian.Uint64(vector) == auxvImage {
			at := uintptr(binary.LittleEndian.Uint64(vector[auxvEntry/2:]))

			// The kernel never moves it. A pointer is made of a number by way of memory, which vet takes for what it is.
			return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), imageSize), nil //nolint:gosec // See above.
		}
	}

	return nil, errors.New("the kernel has mapped no image")
}

// offset returns where the function begins.
func offset(image []byte) (uint64, error) {
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return 0, fmt.Errorf("read the kernel's image: %w", err)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return 0, fmt.Errorf("read the kernel's image: %w", err)
	}
	for _, symbol := range symbols {
		if symbol.Name == function {
			return symbol.Value, nil
		}
	}

	return 0, fmt.Errorf("the kernel's image has no %s", function)
}

// page returns a page of memory that nobody moves.
func page() ([]byte, error) {
	data, err := syscall.Mmap(-1, 0, os.Getpagesize(), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("get memory: %w", err)
	}

	return data, nil
}

func address(data []byte) uint64 {
	return uint64(uintptr(unsafe.Pointer(&data[0]))) //nolint:gosec // It is written into code.
}

// answer is int clock_gettime(clockid_t, struct timespec *). Only the wall clock, whose id is 0, is ahead.
func answer(ahead uint64) []byte {
	code := []byte{
		0xb8, 228, 0, 0, 0, // mov eax, SYS_clock_gettime
		0x0f, 0x05, // syscall
		0x85, 0xff, // test edi, edi
		0x75, 16, // jne to the end
		0x48, 0xb9, // mov rcx, ahead
	}
	code = binary.LittleEndian.AppendUint64(code, ahead)

	return append(code,
		0x48, 0x8b, 0x09, // mov rcx, [rcx]
		0x48, 0x01, 0x0e, // add [rsi], rcx
		0xc3, // ret
	)
}

// jump goes to an address.
func jump(to uint64) []byte {
	code := binary.LittleEndian.AppendUint64([]byte{0x48, 0xb8}, to) // mov rax, to

	return append(code, 0xff, 0xe0) // jmp rax
}
