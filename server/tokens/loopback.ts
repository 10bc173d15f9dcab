/** Whether a host, as a URL has it, is this machine whoever asks. */
export const isLoopback = (hostname: string) => /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/i.test(hostname)
