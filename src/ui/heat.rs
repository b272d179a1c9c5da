//! The product of the layers beside the task as heat maps, in the singular basis or as they are.

use super::palette;
use super::plot::{Look, count, number};
use crate::engine::protocol::Picture;
use crate::models::linear::{Task, task};
use crate::spec::{Linear, Model, Spec};
use eframe::egui;
use eframe::egui::{
    Align2, Color32, ColorImage, FontId, Pos2, Rect, RichText, Sense, TextureHandle, TextureOptions, Ui,
};
use nalgebra::DMatrix;

/// The basis that matrices are shown in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Basis {
    /// `U^T P V`: the modes are the diagonal.
    #[default]
    Singular,
    Plain,
}

impl Basis {
    pub fn other(self) -> Self {
        match self {
            Self::Singular => Self::Plain,
            Self::Plain => Self::Singular,
        }
    }
}

/// How the maps are to be shown.
#[derive(Clone, Copy)]
pub struct Show {
    pub member: u32,
    pub basis: Basis,
    pub dark: bool,
}

/// What the maps depend on.
type Key = (u64, u32, Basis, bool, Option<u64>);

/// The two matrices as they are shown, and their textures.
#[derive(Default)]
pub struct Heat {
    key: Option<Key>,
    task: Option<(u64, u32, Task)>,
    product: Map,
    target: Map,
    /// The value at the end of the colour bar.
    end: f32,
    step: Option<u64>,
}

#[derive(Default)]
struct Map {
    values: Vec<f32>,
    width: usize,
    texture: Option<TextureHandle>,
}

impl Map {
    fn set(&mut self, ctx: &egui::Context, name: &str, matrix: &DMatrix<f64>, end: f32, dark: bool) {
        self.width = matrix.ncols();
        self.values = matrix.transpose().iter().map(|value| *value as f32).collect();
        let pixels = self.values.iter().map(|value| palette::heat(value / end, dark)).collect();
        let image = ColorImage::new([self.width, matrix.nrows()], pixels);
        match &mut self.texture {
            Some(texture) => texture.set(image, TextureOptions::NEAREST),
            None => self.texture = Some(ctx.load_texture(name, image, TextureOptions::NEAREST)),
        }
    }
}

impl Heat {
    /// Makes the maps anew if the picture, the member, the basis or the theme are others.
    pub fn update(
        &mut self,
        ctx: &egui::Context,
        run: u64,
        spec: &Spec,
        picture: Option<&Picture>,
        Show { member, basis, dark }: Show,
    ) {
        let Model::Linear(linear) = &spec.model;
        let picture = picture.filter(|picture| fits(picture, linear));
        let key = (run, member, basis, dark, picture.map(|picture| picture.step));
        if self.key == Some(key) {
            return;
        }
        self.key = Some(key);
        if self.task.as_ref().is_none_or(|(of, at, _)| (*of, *at) != (run, member)) {
            self.task = Some((run, member, task(spec, linear, member)));
        }
        let Some((_, _, task)) = &self.task else { return };
        let in_basis = |matrix: DMatrix<f64>| match basis {
            Basis::Singular => task.u.transpose() * matrix * &task.v,
            Basis::Plain => matrix,
        };
        let target = in_basis(task.a.clone());
        self.end = target.amax().max(1e-9) as f32;
        self.target.set(ctx, "task", &target, self.end, dark);
        self.step = picture.map(|picture| picture.step);
        let d = linear.spectrum.len();
        let product = picture.map_or_else(
            || DMatrix::zeros(d, d),
            |picture| {
                in_basis(DMatrix::from_row_iterator(d, d, picture.values.iter().map(|v| f64::from(*v))))
            },
        );
        self.product.set(ctx, "product", &product, self.end, dark);
    }
}

fn fits(picture: &Picture, linear: &Linear) -> bool {
    let d = linear.spectrum.len();
    picture.shape == [d, d] && picture.values.len() == d * d
}

/// The product's name: `W₁W₂`.
fn product_name(depth: u32) -> String {
    (1..=depth as usize).map(|layer| format!("W{}", super::plot::subscript(layer))).collect()
}

/// The title of the maps and the step they show.
pub fn title(ui: &mut Ui, heat: &Heat, depth: u32) {
    ui.label(RichText::new(format!("{} beside A", product_name(depth))).strong().size(17.0));
    if let Some(step) = heat.step.filter(|_| ui.available_width() > 330.0) {
        ui.label(format!("step {}", count(step)));
    }
}

pub fn show(ui: &mut Ui, heat: &Heat, depth: u32, basis: Basis, look: Look) {
    let in_basis = |name: &str| match basis {
        Basis::Singular => format!("U^T {name} V"),
        Basis::Plain => name.to_owned(),
    };
    let product = in_basis(&product_name(depth));
    let area = ui.available_rect_before_wrap();
    let font = egui::TextStyle::Body.resolve(ui.style());
    let (gap, bar, line) = (10.0, 14.0, font.size + 6.0);
    let numbers = 3.6 * font.size;
    let side = ((area.width() - 2.0 * gap - bar - numbers) / 2.0).min(area.height() - line).max(16.0);
    let slack = (area.width() - 2.0 * side - 2.0 * gap - bar - numbers).max(0.0) / 2.0;
    let corner = area.min + egui::vec2(slack, 0.0);
    let square =
        |i: f32| Rect::from_min_size(corner + egui::vec2(i * (side + gap), line), egui::Vec2::splat(side));
    map(ui, square(0.0), &heat.product, &product, &font, look);
    map(ui, square(1.0), &heat.target, &in_basis("A"), &font, look);
    let left = corner + egui::vec2(2.0 * (side + gap), line);
    colour_bar(ui, Rect::from_min_size(left, egui::vec2(bar, side)), heat.end, &font, look);
    ui.advance_cursor_after_rect(area);
}

fn map(ui: &mut Ui, rect: Rect, map: &Map, name: &str, font: &FontId, look: Look) {
    let above = rect.center_top() - egui::vec2(0.0, 3.0);
    ui.painter().text(above, Align2::CENTER_BOTTOM, name, font.clone(), look.ink());
    if let Some(texture) = &map.texture {
        let uv = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
        ui.painter().image(texture.id(), rect, uv, Color32::WHITE);
    }
    let stroke = egui::Stroke::new(1.0, look.faint());
    ui.painter().rect_stroke(rect, 0.0, stroke, egui::StrokeKind::Outside);
    let response = ui.interact(rect, ui.unique_id().with(("map", name)), Sense::hover());
    let Some(pointer) = response.hover_pos().filter(|_| map.width > 0) else { return };
    let place = (pointer - rect.min) / rect.width() * map.width as f32;
    let cell = |at: f32| (at.max(0.0) as usize).min(map.width - 1);
    let (row, column) = (cell(place.y), cell(place.x));
    let Some(value) = map.values.get(row * map.width + column) else { return };
    super::plot::tell(
        &response,
        &[
            format!("row {}, column {}", row + 1, column + 1),
            format!("value {} (no unit)", number(f64::from(*value))),
            format!("entry of {name}"),
        ],
    );
}

fn colour_bar(ui: &Ui, rect: Rect, end: f32, font: &FontId, look: Look) {
    let mut mesh = egui::Mesh::default();
    const PARTS: u32 = 32;
    for i in 0..=PARTS {
        let part = i as f32 / PARTS as f32;
        let colour = palette::heat(1.0 - 2.0 * part, look.dark);
        let y = rect.top() + part * rect.height();
        mesh.colored_vertex(Pos2::new(rect.left(), y), colour);
        mesh.colored_vertex(Pos2::new(rect.right(), y), colour);
        if i > 0 {
            let at = 2 * i;
            mesh.add_triangle(at - 2, at - 1, at);
            mesh.add_triangle(at - 1, at, at + 1);
        }
    }
    ui.painter().add(mesh);
    let stroke = egui::Stroke::new(1.0, look.faint());
    ui.painter().rect_stroke(rect, 0.0, stroke, egui::StrokeKind::Outside);
    let end = f64::from(end);
    let labels =
        [(0.0, end, Align2::LEFT_TOP), (0.5, 0.0, Align2::LEFT_CENTER), (1.0, -end, Align2::LEFT_BOTTOM)];
    for (part, value, anchor) in labels {
        let place = Pos2::new(rect.right() + 4.0, rect.top() + part * rect.height());
        let text = number(super::edit::three_digits(value)).replace('-', "−");
        ui.painter().text(place, anchor, text, font.clone(), look.ink());
    }
}
