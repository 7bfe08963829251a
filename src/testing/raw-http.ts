import http from 'node:http';
import net from 'node:net';
import type { Answer } from './api-client.js';
import { validateAnswer } from './validate-answer.js';

interface HttpRequest {
  method: string;
  path: string;
  headers: http.OutgoingHttpHeaders | readonly string[];
  body?: string | Uint8Array;
  agent?: http.Agent;
  onSocket?: (socket: net.Socket) => void;
}

/** A request whose headers are alternating names and values, sent unchanged. */
export interface RawRequest extends HttpRequest {
  headers: readonly string[];
}

/** Content types of responses whose body is not parsed. */
const FILES = /^(text\/(csv|calendar)|application\/x-ndjson)(;|$)/;

/** Sends a request and reads the response. `fetch` adds and refuses some headers, and takes twice the CPU. */
export function rawRequest(
  port: number,
  { body, onSocket, ...options }: HttpRequest,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sending = http.request({ host: '127.0.0.1', port, ...options }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString();
        const headers = new Headers(response.headers as Record<string, string>);
        try {
          const isFile = FILES.test(headers.get('content-type') ?? '');
          const body: unknown = isFile && options.method !== 'HEAD' ? text : parseBody(text);
          const answer = { status: response.statusCode!, headers, body };
          validateAnswer(port, options.method, options.path, answer);
          resolve(answer);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
    });
    sending.once('socket', (socket) => onSocket?.(socket));
    sending.once('error', reject);
    sending.end(body);
  });
}

/** Sends raw bytes and reads until the server closes the connection. */
export function sendUntilClosed(port: number, bytes: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.once('error', reject);
    socket.once('close', () => {
      resolve(parseAnswer(text));
    });
    socket.write(bytes);
  });
}

/** Sends raw bytes and reads the first response. */
export function sendUntilAnswered(port: number, bytes: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('error', reject);
    socket.once('data', (chunk: Buffer) => {
      resolve(parseAnswer(chunk.toString()));
      socket.destroy();
    });
    socket.write(bytes);
  });
}

/** Parses a response whose body is one JSON object. */
export function parseAnswer(text: string): Answer {
  const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s);
  const [start = '', ...fields] = head.split('\r\n');
  const headers = fields.map((field) => field.split(/: (.*)/s).slice(0, 2) as [string, string]);
  const json = /\{.*\}/s.exec(body)?.[0];
  return {
    status: Number(start.split(' ')[1]),
    headers: new Headers(headers),
    body: parseBody(json ?? ''),
  };
}

/** @throws Error with the body if it is not JSON, such as an error page of a load balancer */
function parseBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`The body is no JSON: ${text.slice(0, 300)}`, { cause });
  }
}
