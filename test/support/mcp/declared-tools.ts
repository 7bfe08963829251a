import { MODULE_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner } from '@nestjs/core';
import {
  COMPLETION,
  type CompletionDeclaration,
} from '../../../src/modules/mcp/prompts/completion.decorator.js';
import {
  RESOURCE,
  type ResourceKind,
} from '../../../src/modules/mcp/resources/resource.decorator.js';
import { TOOL, type ToolDeclaration } from '../../../src/modules/mcp/tools/tool.decorator.js';
import { classesIn } from '../declared-routes.js';

/** The tools of the features, as their providers declare them. */
export const DECLARED_TOOLS = declared<ToolDeclaration>(TOOL);

/** The resource templates of the features. */
export const DECLARED_RESOURCES = declared<ResourceKind>(RESOURCE);

/** The completions of the features. */
export const DECLARED_COMPLETIONS = declared<CompletionDeclaration>(COMPLETION);

function declared<T>(metadata: symbol): readonly T[] {
  // Several features import the same module.
  return [...new Set(classesIn(MODULE_METADATA.PROVIDERS))].flatMap(({ prototype }) => {
    const methods = prototype as Record<string, object>;
    return new MetadataScanner().getAllMethodNames(methods).flatMap((name) => {
      const declaration = Reflect.getMetadata(metadata, methods[name]!) as T | undefined;
      return declaration === undefined ? [] : [declaration];
    });
  });
}
