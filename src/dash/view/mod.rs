//! Draws a model into a buffer.

mod banner;
mod brush;
mod chart;
mod columns;
mod deployments;
mod head;
mod ladders;
mod layout;
mod lists;
mod metrics;
mod overlay;
mod theme;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use brush::Brush;
use layout::Regions;

pub(super) use layout::{Hit, hit};
pub(super) use metrics::charts;
pub use theme::Theme;

use super::model::{Model, Pane};

/// Draws all of it.
pub fn draw(model: &Model, area: Rect, buffer: &mut Buffer) {
    let regions = Regions::of(model, area);
    let mut brush = Brush::new(buffer, area, model.options.theme, model.options.letters);
    brush.clear(area);
    head::header(model, regions.header, &mut brush);
    banner::banner(model, regions.banner, &mut brush);
    for (pane, place) in &regions.panes {
        match pane {
            Pane::Ladders => ladders::ladders(model, *place, regions.is_low, &mut brush),
            Pane::Deployments => deployments::deployments(model, *place, &mut brush),
            Pane::Quotas => lists::quotas(model, *place, &mut brush),
            Pane::Attempts => lists::attempts(model, *place, &mut brush),
            Pane::Metrics => metrics::metrics(model, *place, &mut brush),
        }
    }
    head::footer(model, regions.footer, &mut brush);
    // Never over the banner.
    overlay::overlay(model, regions.body, &mut brush);
}
