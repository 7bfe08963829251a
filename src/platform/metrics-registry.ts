import { Global, Injectable, Module } from '@nestjs/common';
import { type Metric, Registry } from 'prom-client';

/** The registry of all metrics: those of Latitude and those of extensions. */
@Injectable()
export class MetricsRegistry extends Registry {
  /** @throws Error that names the metric if there is another with its name */
  override registerMetric<T extends string>(metric: Metric<T>): void {
    const { name } = metric as Metric<T> & { readonly name: string };
    const other: unknown = this.getSingleMetric(name);
    if (other !== undefined && other !== metric) {
      throw new Error(
        `Two metrics have the name ${name}: begin the names of metrics with that of the extension.`,
      );
    }
    super.registerMetric(metric);
  }
}

/** Provides the registry to every module, also in commands and if `/metrics` is switched off. */
@Global()
@Module({ providers: [MetricsRegistry], exports: [MetricsRegistry] })
export class MetricsRegistryModule {}
