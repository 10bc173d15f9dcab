/** Whether a URL's hostname always means this machine. */
export const isLoopback = (hostname: string) => /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/i.test(hostname)
