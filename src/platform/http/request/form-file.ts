import { extname } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import busboy from 'busboy';
import { type ApiError, validationError } from '../../errors/api-error.js';

/** The file of a form. */
export interface FormFile {
  /** The media type that the form gives it. */
  readonly type: string;
  /** The extension of its name, in lower case without the dot. */
  readonly extension: string;
  /** Can be read once. It throws an `ApiError` if there is anything behind the file, or the form is damaged. */
  readonly bytes: AsyncIterable<Buffer>;
}

const ONE_FILE = 'must be a form of exactly one file, without other fields';
const DAMAGED = 'is a form that is damaged or incomplete';

/** The second part is over the limit, also if it is neither a file nor a field. */
const LIMITS = { files: 1, fields: 0, parts: 2 };

/** Transfer encodings that leave the bytes as they are. */
const PLAIN = /^(7bit|8bit|binary)$/i;

/**
 * Reads a form up to its file.
 * @param contentType `multipart/form-data` with its boundary
 * @param source the body
 * @throws ApiError `validation_error` if it has no file; any error of `source`
 */
export async function fileOfForm(
  contentType: string,
  source: AsyncIterable<Buffer>,
): Promise<FormFile> {
  const form = new Form(contentType, source);
  const file = await form.file();
  return { ...file, bytes: form.bytesOf(file.stream) };
}

class Form {
  private readonly parser: busboy.Busboy;
  private readonly ended: Promise<void>;
  private failure: Error | undefined;

  constructor(contentType: string, source: AsyncIterable<Buffer>) {
    this.parser = parserOf(contentType);
    for (const event of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const) {
      this.parser.on(event, () => {
        this.fail(refusal(ONE_FILE));
      });
    }
    this.ended = new Promise((resolve) => {
      pipeline(Readable.from(this.watched(source)), this.parser, (error) => {
        if (error) this.fail(refusal(DAMAGED));
        resolve();
      });
    });
  }

  async file(): Promise<Omit<FormFile, 'bytes'> & { readonly stream: Readable }> {
    const file = await new Promise<Awaited<ReturnType<Form['file']>> | undefined>((resolve) => {
      this.parser.once('file', (_name, stream, { filename = '', encoding, mimeType }) => {
        if (!PLAIN.test(encoding)) this.fail(refusal(`has a file that is encoded as ${encoding}`));
        // The reader of the file receives the error. Without a reader, there is another one.
        stream.on('error', () => undefined);
        const extension = extname(filename).slice(1).toLowerCase();
        resolve({ stream, type: mimeType.toLowerCase(), extension });
      });
      void this.ended.then(() => {
        resolve(undefined);
      });
    });
    if (file && !this.failure) return file;
    this.parser.destroy();
    throw this.failure ?? refusal(ONE_FILE);
  }

  /** The bytes of the file. It ends when the whole form is read. */
  async *bytesOf(file: Readable): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of file) yield chunk as Buffer;
      await this.ended;
    } catch {
      this.fail(refusal(DAMAGED));
    } finally {
      this.parser.destroy();
    }
    if (this.failure) throw this.failure;
  }

  /** The first failure is the cause of the others. */
  private fail(error: Error): void {
    this.failure ??= error;
  }

  private async *watched(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    try {
      yield* source;
    } catch (error) {
      this.fail(error as Error);
      throw error;
    }
  }
}

/** @throws ApiError `validation_error` for a content type without a boundary */
function parserOf(contentType: string): busboy.Busboy {
  try {
    return busboy({ headers: { 'content-type': contentType }, limits: LIMITS });
  } catch {
    throw refusal('is a form without a boundary in its content type');
  }
}

function refusal(message: string): ApiError {
  return validationError([{ field: 'body', message }]);
}
