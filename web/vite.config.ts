import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** `npm run dev` serves the page from source and passes /api on to a running `gemba serve`. */
const server = process.env["GEMBA_URL"] ?? "http://127.0.0.1:4680";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../src/gemba/api/page",
    emptyOutDir: true,
    target: ["chrome123", "edge123", "firefox121", "safari17.5"],
    // The content security policy allows no data: fonts and no inline script, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: {
      "/api": {
        target: server,
        changeOrigin: true,
        // The server refuses foreign origins, and the dev server is one.
        configure: (proxy) => proxy.on("proxyReq", (request) => request.removeHeader("origin")),
      },
    },
  },
});
