//! Draw two classes of rows that come in groups, as places of images do.
//!
//! Every image has a lighting, four numbers that all its rows share but for a little, and a
//! tendency to one of the classes that the lighting says nothing about in other images. Two more
//! inputs tell the classes apart in any image. In kind the forest scenes of [Vehtari 2001, §3.4.3],
//! whose 48 images of 100 places are not public.

use super::table;
use crate::data::Table;
use crate::density::special::logistic;
use crate::random::Stream;

/// Rows of every image.
pub const ROWS_PER_IMAGE: usize = 15;

/// Images of a training table.
pub const TRAINING_IMAGES: usize = 24;

/// Standard deviation of the tendency of images, in log odds.
const TENDENCY: f64 = 2.5;
/// Standard deviation of a row's lighting about that of its image, whose own is 1.
const WITHIN: f64 = 0.15;
/// Change of the log odds with either of the inputs that count in any image.
const SLOPE: f64 = 1.2;

/// Draws `rows` rows with columns `lighting1` to `lighting4`, `x1`, `x2`, `class` (0 or 1) and
/// `image`, numbered from 0; every [`ROWS_PER_IMAGE`] rows are one image.
pub fn draw(rows: usize, stream: &mut Stream) -> Table {
    let mut lighting = [const { Vec::new() }; 4];
    let [mut x1, mut x2, mut class, mut image] = [const { Vec::new() }; 4];
    let (mut own, mut tendency) = ([0.0; 4], 0.0);
    for row in 0..rows {
        if row % ROWS_PER_IMAGE == 0 {
            stream.fill_normal(&mut own);
            tendency = TENDENCY * stream.normal();
        }
        for (column, shared) in lighting.iter_mut().zip(&own) {
            column.push(shared + WITHIN * stream.normal());
        }
        let [a, b] = [stream.normal(), stream.normal()];
        let odds = tendency + SLOPE * (a + b);
        x1.push(a);
        x2.push(b);
        class.push(f64::from(u8::from(stream.uniform() < logistic(odds))));
        image.push((row / ROWS_PER_IMAGE) as f64);
    }
    let [l1, l2, l3, l4] = lighting;
    let inputs = [("lighting1", l1), ("lighting2", l2), ("lighting3", l3), ("lighting4", l4)];
    let others = [("x1", x1), ("x2", x2), ("class", class), ("image", image)];
    table("images", inputs.into_iter().chain(others))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{column, mean, stream, z_score};
    use super::*;

    #[test]
    fn rows_of_an_image_are_alike_and_images_are_not() {
        // |z| < 4.5 has a false-alarm rate of 7e-6 each; seed fixed.
        let images = 2000;
        let drawn = draw(images * ROWS_PER_IMAGE, &mut stream(31));
        let [light, class, x1] = ["lighting2", "class", "x1"].map(|name| column(&drawn, name));
        let means: Vec<f64> =
            light.chunks(ROWS_PER_IMAGE).map(|image| mean(image.iter().copied())).collect();
        let squares: Vec<f64> = means.iter().map(|value| value * value).collect();
        assert!(z_score(&squares, 1.0 + WITHIN * WITHIN / ROWS_PER_IMAGE as f64).abs() < 4.5);
        let within = light
            .chunks(ROWS_PER_IMAGE)
            .zip(&means)
            .flat_map(|(image, centre)| image.iter().map(move |value| (value - centre).powi(2)));
        let count = ROWS_PER_IMAGE as f64;
        let expected = WITHIN * WITHIN * (count - 1.0) / count;
        assert!(z_score(&within.collect::<Vec<_>>(), expected).abs() < 4.5);
        // Half of all rows are of either class, by images.
        let shares: Vec<f64> =
            class.chunks(ROWS_PER_IMAGE).map(|image| mean(image.iter().copied())).collect();
        assert!(z_score(&shares, 0.5).abs() < 4.5);
        // Far more images have one class only than would if rows were independent.
        let pure = shares.iter().filter(|share| **share < 0.1 || **share > 0.9).count();
        assert!(pure > images / 4, "{pure}");
        let signal: Vec<f64> = x1.iter().zip(class).map(|(x, c)| x * (c - 0.5)).collect();
        assert!(z_score(&signal, 0.0) > 20.0);
        let images = column(&drawn, "image");
        assert!((images[ROWS_PER_IMAGE] - 1.0).abs() < 1e-12 && images[0].abs() < 1e-12);
    }
}
