import { Injectable } from '@nestjs/common';
import { llmsText } from './llms-text.js';
import type { OpenApiDocument } from './model.js';

/**
 * The description of the API, whose forms are kept after their first request. It is no part of the controller, because an
 * interceptor of a team with the scope REQUEST gives each request a controller of its own.
 */
@Injectable()
export class ApiDescription {
  private create?: () => Promise<OpenApiDocument>;
  private documentJson?: string;
  private llms?: string;

  /** @param create creates the OpenAPI document of the application */
  describe(create: () => Promise<OpenApiDocument>): void {
    this.create = create;
  }

  /** Returns the OpenAPI document as JSON, without `servers`: each response adds the URL of its request. */
  async openApiJson(): Promise<string> {
    this.documentJson ??= JSON.stringify({ ...(await this.document()), servers: undefined });
    return this.documentJson;
  }

  /** Returns the API as one text for code assistants. */
  async llmsText(): Promise<string> {
    this.llms ??= llmsText(await this.document());
    return this.llms;
  }

  private async document(): Promise<OpenApiDocument> {
    if (!this.create) throw new Error('describe() has not been called.');
    return this.create();
  }
}
