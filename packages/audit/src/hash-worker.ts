import { serveHashes } from './hash-service.js';

/** The thread that hashes the lines of a long log while another one reads on. */

serveHashes();
